#include "scenarios/plan/derived.h"

#include <algorithm>

#include "scenarios/software/reader.h"

namespace debubble::scenarios {

namespace {

models::LowPrecision low_precision_of(const Scenario& scenario) {
    const Precision& precision = scenario.training.precision;
    const int layers = scenario.model.layers.count();
    models::LowPrecision how;
    how.recipe = precision.recipe;
    how.attention = precision.fp8_attention;
    how.narrow_parameters = precision.param_gather != ParamGather::Bf16;
    how.transposes = !scenario.cluster.gpu.fp4_flops_per_s;
    how.narrow_activations = precision.fp8_activations;
    how.keeps_casts = !scenario.framework.kernels.casts_anew;
    if (how.recipe == models::Recipe::None) return how;
    how.wide_first = {0, precision.bf16_first};
    how.wide_last = {layers - precision.bf16_last, layers};
    return how;
}

/// TransformerEngine's choice, of the release's time.
models::FusedAttention attention_kernel_of(const Scenario& scenario) {
    using models::FusedAttention;
    if (!scenario.cluster.gpu.fp8_flops_per_s) return FusedAttention::Flash2;
    constexpr Release kLaterCudnn{25, 1};
    const auto release = release_of(scenario.framework.release);
    return release && *release < kLaterCudnn ? FusedAttention::Cudnn2024 : FusedAttention::Cudnn;
}

}  // namespace

bool may_fuse_experts(const Scenario& scenario) {
    const auto gated = [](const models::Layer& layer) {
        const auto* experts = layer.as<models::Experts>();
        return experts != nullptr && models::is_gated(experts->activation);
    };
    return std::ranges::any_of(scenario.model.layers.kinds(), gated) &&
           scenario.training.precision.recipe == models::Recipe::MxFp8 &&
           scenario.cluster.gpu.fp4_flops_per_s.has_value();
}

bool fuses_experts(const Scenario& scenario) {
    constexpr Release kFusedGroupedMlp{26, 6};
    switch (scenario.framework.fused_experts) {
        case FusedExperts::Never: return false;
        case FusedExperts::Always: return true;
        case FusedExperts::ByRelease: break;
    }
    const auto release = release_of(scenario.framework.release);
    return release && *release >= kFusedGroupedMlp && may_fuse_experts(scenario);
}

models::Execution execution_of(const Scenario& scenario) {
    const Training& training = scenario.training;
    const Parallel& parallel = scenario.parallel;
    const double dropout = training.dropout.value_or(scenario.model.dropout);

    models::Execution execution;
    execution.micro_batch = training.micro_batch;
    execution.seq_length = training.seq_length;
    execution.slices = scenario.schedule.slices;
    execution.tensor = parallel.tensor;
    execution.context = parallel.context;
    if (scenario.framework.kernels.context_communication == models::ContextCommunication::TwoLevel)
        execution.context_inner = context_levels(scenario).inner;
    execution.sequence_parallel = parallel.sequence && parallel.tensor > 1;
    execution.expert = parallel.expert;
    execution.expert_tensor = parallel.expert_tensor;
    // Rows over an expert's capacity are dropped.
    execution.expert_capacity = scenario.framework.capacity_factor;
    execution.expert_load = std::min(
        training.expert_load, scenario.framework.capacity_factor.value_or(training.expert_load));
    const RouterOptions& routers = training.routers;
    using Balancing = RouterOptions::Balancing;
    execution.router_terms = {.balance = routers.aux_loss_coeff > 0,
                              .by_sequence = routers.balancing == Balancing::SeqAuxLoss,
                              .by_step = routers.balancing == Balancing::GlobalAuxLoss,
                              .z = routers.z_loss_coeff > 0};
    execution.compute = training.precision.compute;
    execution.gradients = training.precision.grads;
    execution.split_backward = scenario.schedule.splits_backward;
    execution.delays_weights = scenario.schedule.delays_weights();
    execution.recompute = training.recompute;
    execution.recompute_extent = training.recompute_extent;
    execution.offload = training.offload;
    execution.lora = training.lora;
    execution.attention = training.attention;
    execution.kernels = scenario.framework.kernels;
    execution.copies_along_sequence = scenario.framework.copies_along_sequence;
    execution.places_pieces = scenario.framework.tensor_overlap;
    execution.low_precision = low_precision_of(scenario);
    if (!execution.kernels.attention_kernel)
        execution.kernels.attention_kernel = attention_kernel_of(scenario);
    execution.kernels.fused_experts = fuses_experts(scenario);
    execution.hidden_dropout = dropout > 0;
    execution.attention_dropout = dropout > 0;
    return execution;
}

}  // namespace debubble::scenarios
