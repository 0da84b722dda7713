#include "exec/core/stage/operators/executor_scenario.h"

#include <fmt/format.h>

#include "exec/core/stage/operators/run_operator.h"
#include "scenarios/plan/packing.h"
#include "scenarios/software/reader.h"

namespace debubble::exec {

scenarios::Scenario executor_scenario(scenarios::Scenario scenario) {
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

std::optional<Unsupported> unsupported(const scenarios::Scenario& scenario) {
    const auto part = [](const char* key, std::string what) {
        return Unsupported{
            key,
            fmt::format("{}: 'debubble simulate' models it, but it cannot be executed yet", what)};
    };
    if (const std::string what = unsupported_part(scenario.model); !what.empty())
        return part("model", what);
    if (std::string what = unsupported_part(scenario.training.precision); !what.empty())
        return Unsupported{"training.precision", std::move(what)};
    const scenarios::Parallel& parallel = scenario.parallel;
    if (parallel.dynamic_context_parallel)
        return part("parallel.dynamic_context_parallel",
                    "parallel.dynamic_context_parallel sizes groups by the lengths of documents");
    if (scenarios::packs_in_step(scenario))
        return part("imbalance",
                    "imbalance.sequence.global_batch_packing packs documents in every step");
    if (parallel.copies() > 1)
        return part("parallel.shard", "parallel.shard is less than data x context");
    if (parallel.context > 1 &&
        scenario.framework.kernels.context_communication == models::ContextCommunication::TwoLevel)
        return part("framework.context_communication",
                    "framework.context_communication is a2a+p2p, context parallelism on two "
                    "levels");
    const models::KernelOptions& kernels = scenario.framework.kernels;
    if (scenario.model.has_experts() && (kernels.moe_dispatch_fwd_dtype != models::Narrow::None ||
                                         kernels.moe_combine_bwd_dtype != models::Narrow::None))
        return part("framework", "tokens are sent to experts in 8 bits");
    for (std::size_t stage = 1; stage + 1 < parallel.layers_per_stage.size(); ++stage)
        if (parallel.layers_per_stage[stage] == 0 &&
            parallel.prediction_stage != static_cast<int>(stage))
            return part("parallel.partition", "an inner stage has no layers");
    const scenarios::Training& training = scenario.training;
    if (training.lora)
        return part("training.lora", "training.lora adds adapters to frozen weights");
    if (parallel.zero_stage == 3 && scenario.model.has_experts() &&
        parallel.expert_replicas() != parallel.replicas())
        return part("parallel.zero_stage",
                    "zero_stage 3 shards experts over fewer ranks than the other parameters");
    if (!parallel.reshard) return part("parallel.reshard", "parallel.reshard is false");
    if (scenario.framework.grad_reduce_dtype &&
        *scenario.framework.grad_reduce_dtype !=
            scenario.parallel.communication_dtype.value_or(training.precision.grads))
        return part("framework",
                    "framework.grad_reduce_dtype differs from the type of the gradients");
    return std::nullopt;
}

std::optional<Unsupported> unsupported(const scenarios::RouterOptions& routers,
                                       const Placement& placement) {
    using Balancing = scenarios::RouterOptions::Balancing;
    const bool over_step =
        routers.aux_loss_coeff > 0 && routers.balancing == Balancing::GlobalAuxLoss;
    if (!over_step || !PlacementIndex(placement).has_several_holders()) return std::nullopt;
    return Unsupported{
        "training.moe_router_load_balancing_type",
        "the schedule has two copies of each stage, and under global_aux_loss each would count "
        "only the tokens of its own microbatches; use aux_loss or seq_aux_loss"};
}

}  // namespace debubble::exec
