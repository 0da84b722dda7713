#include "exec/core/training/state/state_policy.h"

namespace debubble::exec {

namespace {

StatePolicy policy_over(int shards, const scenarios::Scenario& scenario, int moment_count) {
    const scenarios::Precision& precision = scenario.training.precision;
    const scenarios::Parallel& parallel = scenario.parallel;
    StatePolicy policy;
    policy.compute = tensor_type(precision.compute);
    policy.gradients = tensor_type(precision.grads);
    policy.moments = tensor_type(precision.moments);
    if (precision.main_params &&
        models::size_of(*precision.main_params) > models::size_of(precision.compute))
        policy.main = tensor_type(*precision.main_params);
    policy.wire = tensor_type(parallel.communication_dtype.value_or(precision.grads));
    policy.moment_count = moment_count;
    policy.shards = shards;
    policy.zero_stage = policy.shards > 1 ? parallel.zero_stage : 0;
    policy.gathers_in_passes = parallel.gathers_in_passes();
    policy.offload_optimizer = scenario.training.offload_optimizer;
    policy.offload_buffer = scenario.framework.offload_buffer;
    return policy;
}

}  // namespace

StatePolicy state_policy(const scenarios::Scenario& scenario, int moment_count) {
    return policy_over(scenario.parallel.replicas(), scenario, moment_count);
}

StatePolicy expert_state_policy(const scenarios::Scenario& scenario, int moment_count) {
    return policy_over(scenario.parallel.expert_replicas(), scenario, moment_count);
}

}  // namespace debubble::exec
