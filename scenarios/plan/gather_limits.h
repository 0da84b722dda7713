#pragma once

#include <cstdint>
#include <optional>

#include "scenarios/plan/scenario.h"

namespace debubble::scenarios {

/// The limits of a plan, each with a value: DeepSpeed's default where the framework gives another.
struct GatherLimits {
    std::int64_t prefetch = 50'000'000;       ///< prefetched at each operator
    std::int64_t live = 1'000'000'000;        ///< gathered, beyond which nothing is prefetched
    std::int64_t reuse = 1'000'000'000;       ///< passed until a parameter is used again, which is
                                              ///< kept if there are fewer
    std::int64_t parameter = 100'000;         ///< of a parameter that stays whole
    std::int64_t persistent = kMostElements;  ///< of all parameters that stay whole
    friend bool operator==(const GatherLimits&, const GatherLimits&) = default;
};

/// The same as a framework gives them, each with its value.
Stage3Limits given(const GatherLimits& limits);

/// Set where a plan's passes gather within DeepSpeed's limits: ZeRO-3 that gathers in its passes
/// and drops what it has gathered, without a pipeline and without slices of sequences, neither of
/// which DeepSpeed has with ZeRO-3.
std::optional<GatherLimits> gather_limits(const Scenario& scenario);

}  // namespace debubble::scenarios
