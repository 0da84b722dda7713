#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace debubble::scenarios {

struct Scenario;

/// DeepSpeed's limits on the parameters that ZeRO-3 gathers before they are used and keeps after
/// it, as a framework gives them; all in elements of whole parameters (DeepSpeed 1b88ac3,
/// deepspeed/runtime/zero/config.py, where their names begin with stage3_).
struct Stage3Limits {
    std::optional<std::int64_t> prefetch_bucket_size;
    std::optional<std::int64_t> max_live_parameters;
    std::optional<std::int64_t> max_reuse_distance;
    std::optional<std::int64_t> param_persistence_threshold;
    std::optional<std::int64_t> model_persistence_threshold;
    friend bool operator==(const Stage3Limits&, const Stage3Limits&) = default;

    bool any() const { return *this != Stage3Limits{}; }
};

/// The keys of DeepSpeed's files, and of a framework's, for each limit.
inline constexpr std::pair<std::optional<std::int64_t> Stage3Limits::*, std::string_view>
    kStage3Limits[] = {
        {&Stage3Limits::prefetch_bucket_size, "stage3_prefetch_bucket_size"},
        {&Stage3Limits::max_live_parameters, "stage3_max_live_parameters"},
        {&Stage3Limits::max_reuse_distance, "stage3_max_reuse_distance"},
        {&Stage3Limits::param_persistence_threshold, "stage3_param_persistence_threshold"},
        {&Stage3Limits::model_persistence_threshold, "stage3_model_persistence_threshold"}};

/// The most elements that a limit names; any more is no limit.
inline constexpr std::int64_t kMostElements = 1'000'000'000'000'000;

/// The limits of a plan, each with a value: DeepSpeed's default where the framework gives another.
struct GatherLimits {
    std::int64_t prefetch = 50'000'000;       ///< asked for ahead at each operator
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
