#pragma once

#include <cstdint>
#include <utility>
#include <vector>

/// The kernels launched by each operator of a framework.
namespace debubble::profile {

/// One run of an operator on a thread of the host. Times are nanoseconds.
struct OperatorSpan {
    std::int64_t external = -1;  ///< -1 or 0 without an id
    std::uint64_t thread = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::uint32_t inputs = 0;  ///< number of its arguments' combination
};

struct LaunchedKernel {
    std::int64_t external = -1;
    std::int64_t correlation = -1;
    std::int64_t length = 0;
    bool matrix = false;  ///< GEMM or attention by its name; else it may be one
};

struct LaunchSpan {
    std::int64_t correlation = -1;
    std::uint64_t thread = 0;
    std::int64_t begin = 0;
};

struct OperatorTimes {
    std::vector<std::int64_t> of;  ///< by operator; 0 for those that launched none
    std::int64_t without = 0;      ///< of GEMMs and attention that none of them launched
};

/// The kernels' lengths, summed for each operator. Reorders the operators.
OperatorTimes kernel_times(std::vector<OperatorSpan>& operators,
                           const std::vector<LaunchedKernel>& kernels,
                           std::vector<LaunchSpan> launches);

/// The lengths of operators that contain no other one of the list, 0 for the rest, likewise.
OperatorTimes innermost_times(std::vector<OperatorSpan>& operators);

}  // namespace debubble::profile
