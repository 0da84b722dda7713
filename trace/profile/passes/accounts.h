#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "trace/profile/rank_profile.h"

namespace debubble::profile {

/// A half-open interval of nanoseconds.
struct Interval {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    friend bool operator==(const Interval&, const Interval&) = default;
};
using Intervals = std::vector<Interval>;

/// Sorted and without overlaps.
Intervals union_of(Intervals intervals);
std::int64_t length_of(const Intervals& united);
/// The time in both; both are unions.
std::int64_t common_length(const Intervals& a, const Intervals& b);
/// The part of a union inside [begin, end).
Intervals clipped(const Intervals& united, std::int64_t begin, std::int64_t end);

/// How a device spent its time, as unions of intervals over its streams (HolisticTraceAnalysis
/// f4d0062, analyzers/breakdown_analysis.py): nothing is counted twice.
struct DeviceAccount {
    std::size_t kernels = 0;
    Duration span{};     ///< first begin to last end
    Duration busy{};     ///< anything runs
    Duration compute{};  ///< kernels that are neither communication nor copies
    Duration communication{};
    Duration overlapped{};   ///< communication overlapped by compute
    Duration exposed{};      ///< exposed communication
    Duration idle{};         ///< span less busy
    Duration host_wait{};    ///< idle before a kernel launched after the previous one ended
    Duration kernel_wait{};  ///< idle of at most 30 us before a kernel, for any reason
    ArrayBy<KernelClass, Duration, kKernelClasses> by_class{};  ///< sums of lengths
    ArrayBy<KernelClass, std::size_t, kKernelClasses> count{};
    std::vector<std::uint32_t> unknown;  ///< unclassified names, at most five
};
DeviceAccount account_of(const RankProfile& profile);

/// The unions from which everything here is computed.
Intervals compute_of(const RankProfile& profile);
Intervals communication_of(const RankProfile& profile);

/// The kernels of a rank by the time of their launch.
class LaunchIndex {
public:
    explicit LaunchIndex(const RankProfile& profile);

    /// Indices of the kernels launched in [begin, end], in order of their launch.
    std::span<const std::uint32_t> launched_in(std::int64_t begin, std::int64_t end) const;
    /// Communication in [begin, end] outside of pipelines, less its overlap with computes.
    std::int64_t exposed_in(std::int64_t begin, std::int64_t end) const;

private:
    const RankProfile& profile_;
    std::vector<std::uint32_t> by_launch_;
    Intervals compute_;
    Intervals collectives_;
};

/// The bytes that a communication kernel moves, from its notes; 0 without notes.
std::int64_t bytes_of(const CollectiveNote& note);

}  // namespace debubble::profile
