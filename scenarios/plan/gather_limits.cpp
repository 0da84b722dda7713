#include "scenarios/plan/derived.h"

namespace debubble::scenarios {

Stage3Limits given(const GatherLimits& limits) {
    return {limits.prefetch, limits.live, limits.reuse, limits.parameter, limits.persistent};
}

std::optional<GatherLimits> gather_limits(const Scenario& scenario) {
    const Stage3Limits& given = scenario.framework.stage3;
    const Parallel& parallel = scenario.parallel;
    if (!given.any() || !parallel.gathers_in_passes() || !parallel.reshard ||
        parallel.pipeline > 1 || scenario.schedule.slices > 1)
        return std::nullopt;
    GatherLimits limits;
    limits.prefetch = given.prefetch_bucket_size.value_or(limits.prefetch);
    limits.live = given.max_live_parameters.value_or(limits.live);
    limits.reuse = given.max_reuse_distance.value_or(limits.reuse);
    limits.parameter = given.param_persistence_threshold.value_or(limits.parameter);
    limits.persistent = given.model_persistence_threshold.value_or(limits.persistent);
    return limits;
}

}  // namespace debubble::scenarios
