#pragma once

#include <cstdint>
#include <vector>

#include "trace/profile/passes/rank_actions.h"

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

}  // namespace debubble::profile
