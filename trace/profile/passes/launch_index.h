#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/profile/passes/accounts.h"
#include "trace/profile/rank_profile.h"

namespace debubble::profile {

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
