#pragma once

#include <cstdint>
#include <vector>

#include "trace/profile/rank_actions.h"

namespace debubble::profile {

/// What a rank computed: a kernel, or an operator where there is no device.
struct Item {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    KernelClass item_class = KernelClass::Unknown;
    bool backward = false;  ///< its name says so
    bool engine = false;    ///< the engine of autograd runs it
    bool counts = false;    ///< stands for the attention of one layer
};

/// An exchange of messages with a neighbour.
struct Exchange {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t bytes = 0;
    bool sends = true;     ///< it may send,
    bool receives = true;  ///< and receive
    bool blocks = true;    ///< nothing is computed meanwhile
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
