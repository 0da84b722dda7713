#pragma once

#include <cstdint>
#include <utility>
#include <vector>

/// Which operator of a framework launched which kernel.
namespace debubble::profile {

/// One run of an operator on a thread of the host. Times are nanoseconds.
struct OperatorSpan {
    std::int64_t external = -1;  ///< -1 or 0 where it has no id
    std::uint64_t thread = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::uint32_t inputs = 0;  ///< a number of what it was called with
};

struct LaunchedKernel {
    std::int64_t external = -1;
    std::int64_t correlation = -1;
    std::int64_t length = 0;
    bool matrix = false;  ///< a product or an attention by its name; else it may be one
};

struct LaunchSpan {
    std::int64_t correlation = -1;
    std::uint64_t thread = 0;
    std::int64_t begin = 0;
};

struct OperatorTimes {
    std::vector<std::int64_t> of;  ///< by the place of an operator; 0 for those that launched none
    std::int64_t without = 0;      ///< of products and attentions that none of them launched
};

/// The kernels' lengths added up for each operator. Operators are brought into another order.
OperatorTimes kernel_times(std::vector<OperatorSpan>& operators,
                           const std::vector<LaunchedKernel>& kernels,
                           std::vector<LaunchSpan> launches);

/// The lengths of operators that hold no other one of the list, 0 for the rest, likewise.
OperatorTimes innermost_times(std::vector<OperatorSpan>& operators);

}  // namespace debubble::profile
