#include "exec/core/stage/as_executed.h"

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/framework_reader.h"

namespace debubble::exec {

scenarios::Scenario as_executed(scenarios::Scenario scenario) {
    static const scenarios::Framework kProfile = scenarios::shipped_framework("debubble");
    scenarios::Training& training = scenario.training;
    training.attention = models::AttentionKernel::Flash;
    if (training.recompute == models::Recompute::Selective)
        training.recompute = models::Recompute::None;

    scenarios::Framework executed = kProfile;
    const scenarios::Framework& asked = scenario.framework;
    executed.post_validation = asked.post_validation;
    executed.capacity_factor = asked.capacity_factor;
    executed.kernels.vocabulary_multiple = asked.kernels.vocabulary_multiple;
    if (asked.kernels.loss == models::LossKernel::Chunked)
        executed.kernels.loss = models::LossKernel::Chunked;
    if (asked.offload_buffer > Bytes{}) executed.offload_buffer = asked.offload_buffer;
    scenario.framework = executed;
    return scenario;
}

void check_executed(const scenarios::Scenario& scenario) {
    const auto refuse = [](const char* what) {
        throw InputError(
            fmt::format("{}: 'debubble simulate' plans it, but nothing executes it yet", what));
    };
    const scenarios::Parallel& parallel = scenario.parallel;
    if (parallel.copies() > 1) refuse("parallel.shard is less than data x context");
    for (std::size_t stage = 1; stage + 1 < parallel.layers_per_stage.size(); ++stage)
        if (parallel.layers_per_stage[stage] == 0) refuse("an inner stage has no layers");
    const scenarios::Training& training = scenario.training;
    if (training.recompute == models::Recompute::Modules)
        refuse("training.recompute has modules that run again");
    if (training.recompute == models::Recompute::Products)
        refuse("training.recompute is selective-op");
    if (training.offload.any()) refuse("training.offload has activations that travel");
    if (training.lora.adapts()) refuse("training.lora has adapters beside frozen weights");
    if (std::holds_alternative<scenarios::MuonOptions>(training.run.optimizer))
        refuse("training.optimizer is muon");
    if (parallel.zero_stage == 3 && scenario.model.has_experts() &&
        parallel.expert_replicas() != parallel.replicas())
        refuse("zero_stage 3 shards experts over fewer ranks than the other parameters");
    if (!parallel.reshard) refuse("parallel.reshard is false");
    if (scenario.framework.grad_reduce_dtype &&
        *scenario.framework.grad_reduce_dtype !=
            scenario.parallel.communication_dtype.value_or(scenario.training.precision.grads))
        refuse("framework.grad_reduce_dtype is another type than the gradients'");
}

}  // namespace debubble::exec
