#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace debubble::scenarios {

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

/// The maximum of a limit, in elements; anything above is unlimited.
inline constexpr std::int64_t kMostElements = 1'000'000'000'000'000;

}  // namespace debubble::scenarios
