#pragma once

#include <cstdint>
#include <vector>

#include "trace/profile/passes/rank_actions.h"

namespace debubble::profile {

/// What a rank computed: a kernel, or an operator where there is no device.
struct Item {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    KernelClass item_class = KernelClass::Unknown;
    bool backward = false;         ///< its name says so
    bool engine = false;           ///< the engine of autograd runs it
    bool counts = false;           ///< stands for the attention of one layer
    bool weight_gradient = false;  ///< its name says that it multiplies for a weight's gradient
    std::uint32_t name = 0;        ///< index in RankProfile::names
};

/// What one step of a rank consists of, each list by begin.
struct StepItems {
    std::vector<Item> items;  ///< of passes
    std::vector<Exchange> exchanges;
    std::vector<Item> optimizer;
    std::vector<DeviceSpan> collectives;
};

/// The rank's steps by its ProfilerStep ranges, else cut behind the optimizer.
std::vector<StepItems> step_items(const RankProfile& profile, const StepRanges& steps);

}  // namespace debubble::profile
