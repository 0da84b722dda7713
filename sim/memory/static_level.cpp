#include "sim/memory/static_level.h"

#include "scenarios/plan/plan.h"

namespace debubble::sim {

bool keeps_step_copies(const scenarios::Scenario& scenario) {
    const bool clips = scenario.training.run.clip_norm.has_value();
    return scenario.framework.rollback_copies && scenarios::is_post_validated(scenario) &&
           (clips || scenario.training.precision.loss_scaling);
}

models::StaticPolicy static_policy(const scenarios::Scenario& scenario) {
    const scenarios::Precision& precision = scenario.training.precision;
    const scenarios::Framework& framework = scenario.framework;
    models::StaticPolicy policy;
    policy.main_parameters = precision.main_params;
    policy.moments = precision.moments;
    policy.remainders = precision.keeps_remainders();
    policy.converts_gradients = precision.converts_gradients();
    policy.moment_count = moments_of(scenario.training.run.optimizer);
    if (scenarios::steps_matrices(scenario.training.run.optimizer)) {
        policy.moment_count = 2;
        policy.steps_matrices = true;
    }
    policy.zero_stage = scenario.parallel.zero_stage;
    const bool bf16_optimizer = scenarios::has_bf16_optimizer(scenario);
    policy.shards_state = bf16_optimizer;
    policy.second_gradients = bf16_optimizer;
    policy.shards = scenario.parallel.shards();
    policy.expert_shards = scenario.parallel.expert_shards();
    policy.casts_shards = scenario.framework.casts_shards;
    policy.keeps_parameters = !scenario.parallel.reshard;
    policy.widens_moments = framework.optimizer == scenarios::OptimizerKind::FusedAdam;
    policy.whole_gradients = framework.sums_whole_gradients && scenario.parallel.pipeline > 1 &&
                             scenario.parallel.shares_gradients();
    policy.gradient_buffer = framework.main_grad_buffer;
    policy.ddp_buckets = framework.ddp_buckets && scenario.parallel.data > 1;
    policy.foreach_optimizer = framework.optimizer == scenarios::OptimizerKind::ForeachAdam;
    if (!scenario.cluster.gpu.threads)  // only GPUs' matrix products need it
        policy.library_workspace = framework.library_workspace;
    policy.step_copies = keeps_step_copies(scenario);
    policy.state_on_host = scenario.training.offload_optimizer;
    if (!scenario.cluster.gpu.threads) policy.offload_buffer = framework.offload_buffer;
    return policy;
}

}  // namespace debubble::sim
