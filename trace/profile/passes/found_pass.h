#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "schedule/action.h"
#include "trace/profile/passes/rank_actions.h"

/// Passes of a step that are found by their attention kernels: its items, the bounds of each pass,
/// and split backwards.
namespace debubble::profile {

/// A compute of a rank: a kernel, or an operator where there is no device.
struct Item {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    KernelClass item_class = KernelClass::Unknown;
    bool backward = false;         ///< its name says so
    bool engine = false;           ///< run by the engine of autograd
    bool counts = false;           ///< represents the attention of one layer
    bool weight_gradient = false;  ///< its name is that of a weight-gradient GEMM
    std::uint32_t name = 0;        ///< index in RankProfile::names
};

/// The contents of one step of a rank, each list by begin.
struct StepItems {
    std::vector<Item> items;  ///< of passes
    std::vector<Exchange> exchanges;
    std::vector<Item> optimizer;
    std::vector<DeviceSpan> collectives;
};

/// The rank's steps by its ProfilerStep ranges, else cut after the optimizer.
std::vector<StepItems> step_items(const RankProfile& profile, const StepRanges& steps);

/// A pass as a run of items of its step; all numbers are indices of StepItems::items.
struct FoundPass {
    Pass kind{};
    /// The first and the last attention; for a BackwardWeight, the first and the last GEMM.
    std::size_t first_anchor = 0;
    std::size_t last_anchor = 0;
    std::size_t first = 0;
    std::size_t last = 0;

    bool forward() const { return kind == Pass::Forward; }
};

inline std::int64_t last_end(const StepItems& step, const FoundPass& pass) {
    std::int64_t end = 0;
    for (std::size_t i = pass.first; i <= pass.last; ++i) end = std::max(end, step.items[i].end);
    return end;
}

/// Sets the first and the last item of every pass. A pass begins after a transfer during which
/// nothing else ran; a backward after the loss, and a forward at the embedding; after a pause that
/// is longer than any inside a pass; with the kernels with which others of its kind begin, or after
/// those with which others of the preceding kind end; else after the longest pause.
void bound(const StepItems& step, std::vector<FoundPass>& passes);

/// Backward passes with delayed weight gradients.
struct SplitBackwards {
    std::size_t inputs = 0;   ///< number of passes that are a BackwardInput
    std::size_t weights = 0;  ///< number of passes that are a BackwardWeight
    std::string note;         ///< a sentence, where a split backward cannot be recognised; else
                              ///< empty
};

/// Separates backwards without weight-gradient GEMMs from those with them, and adds the passes of
/// the delayed ones: consecutive weight-gradient GEMMs without attention and without other GEMMs in
/// between. Names identify them (cuBLAS: not transposed times transposed), else their position
/// between two attentions of no pass. `passes` are by first anchor, before and after; forwards and
/// backwards have `layers` anchors each.
SplitBackwards split_backwards(const StepItems& step, std::size_t layers,
                               std::vector<FoundPass>& passes);

}  // namespace debubble::profile
