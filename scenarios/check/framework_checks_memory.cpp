#include <algorithm>

#include <fmt/format.h>

#include "scenarios/check/framework_checks.h"

/// Megatron-LM's rules about recomputation, offloading, precision, the optimizer and CUDA graphs.
namespace debubble::scenarios {
namespace {

using models::Module;

constexpr std::string_view kArgumentRules = "megatron/training/arguments.py, validate_args";
constexpr std::string_view kConfigRules =
    "megatron/core/transformer/transformer_config.py, TransformerConfig.__post_init__";

bool has_latent_attention(const Scenario& scenario) {
    const auto& kinds = scenario.model.layers.kinds();
    return std::ranges::any_of(kinds, [](const models::Layer& layer) {
        const auto* const attention = layer.as<models::Attention>();
        return attention != nullptr && attention->latent.has_value();
    });
}

void check_recompute(const Scenario& scenario, Refusals& refusals) {
    const Training& training = scenario.training;
    if (training.chooses_recompute || training.recompute != models::Recompute::Modules) return;
    const models::Modules& modules = training.recompute_extent.modules;
    const models::KernelOptions& kernels = scenario.framework.kernels;
    refusals.add(modules.has(Module::MlaUpProjection) && !has_latent_attention(scenario),
                 kConfigRules, "mla_up_proj is recomputed, but there is no latent attention");
    refusals.add(modules.has(Module::SharedExperts) && kernels.shared_expert_overlap, kConfigRules,
                 "shared_experts are recomputed, but --moe-shared-expert-overlap is on");
    const bool delayed = training.precision.recipe == models::Recipe::Fp8Delayed;
    refusals.add(delayed && (modules.has(Module::MoeActivation) || modules.has(Module::LayerNorm)),
                 kConfigRules,
                 "moe_act and layernorm cannot be recomputed with FP8 delayed scaling");
}

void check_offload(const Scenario& scenario, Refusals& refusals) {
    const models::OffloadExtent& offload = scenario.training.offload;
    if (scenario.training.chooses_offload || !offload.any()) return;
    const bool recomputes = scenario.training.recompute != models::Recompute::None;
    refusals.add(offload.everything && scenario.parallel.pipeline > 1, kConfigRules,
                 "--cpu-offloading-num-layers does not support pipeline parallelism");
    refusals.add(offload.everything && recomputes, kConfigRules,
                 "--cpu-offloading-num-layers cannot be combined with recomputation");
    refusals.add(offload.modules.has(Module::AttentionProjection) &&
                     !offload.modules.has(Module::CoreAttention),
                 kConfigRules, "the module attn_proj can be offloaded only with core_attn");
    const bool moe_again = scenario.training.recompute == models::Recompute::Modules &&
                           scenario.training.recompute_extent.modules.has(Module::Moe);
    refusals.add(moe_again && (offload.modules.has(Module::ExpertFc1) ||
                               offload.modules.has(Module::MoeActivation)),
                 kConfigRules, "modules of experts are offloaded, but moe is recomputed");
}

void check_precision(const Scenario& scenario, Refusals& refusals) {
    const Precision& precision = scenario.training.precision;
    const Parallel& parallel = scenario.parallel;
    refusals.add(
        precision.param_gather != ParamGather::Bf16 && parallel.zero_stage == 0, kArgumentRules,
        "parameters are gathered in 8 or 4 bits without --use-distributed-optimizer or FSDP");
    const bool keeps_some = precision.bf16_first > 0 || precision.bf16_last > 0;
    refusals.add(keeps_some && precision.recipe == models::Recipe::Fp8Delayed, kConfigRules,
                 "--first-last-layers-bf16 does not support FP8 delayed scaling");
    const int most = scenario.model.layers.count() / std::max(parallel.pipeline, 1);
    refusals.add(keeps_some && (precision.bf16_first > most || precision.bf16_last > most),
                 kConfigRules,
                 fmt::format("{} first and {} last layers in bf16 exceed the {} of a rank",
                             precision.bf16_first, precision.bf16_last, most));
}

void check_optimizer(const Scenario& scenario, Refusals& refusals) {
    const Parallel& parallel = scenario.parallel;
    const Framework& framework = scenario.framework;
    refusals.add(
        parallel.zero_stage > 0 && framework.overlap_param_gather && !framework.overlap_grad_reduce,
        kArgumentRules, "--overlap-param-gather needs --overlap-grad-reduce");
    refusals.add(steps_matrices(scenario.training.run.optimizer) && parallel.zero_stage >= 2,
                 kArgumentRules, "muon does not support FSDP");
}

void check_graphs(const Scenario& scenario, Refusals& refusals) {
    const CudaGraphs& graphs = scenario.framework.cuda_graphs;
    const auto replays = [&](GraphScope scope) { return graphs.scopes[scope]; };
    const bool any = std::ranges::any_of(graphs.scopes, [](bool on) { return on; });
    const bool experts = scenario.model.has_experts();
    refusals.add(replays(GraphScope::Moe) && replays(GraphScope::MoeRouter), kConfigRules,
                 "CUDA graphs can contain moe or moe_router, not both");
    refusals.add(replays(GraphScope::MoePreprocess) && !replays(GraphScope::MoeRouter),
                 kConfigRules, "CUDA graphs can contain moe_preprocess only with moe_router");
    refusals.add(!experts && (replays(GraphScope::Moe) || replays(GraphScope::MoeRouter)),
                 kConfigRules,
                 "CUDA graphs of experts are requested, but the model has no experts");
    refusals.add(
        any && !graphs.full_iteration && scenario.training.recompute == models::Recompute::Full &&
            !scenario.training.chooses_recompute,
        kConfigRules, "CUDA graphs with full-layer recomputation must be of the full iteration");
}

}  // namespace

void check_megatron_memory(const Scenario& scenario, Refusals& refusals) {
    check_recompute(scenario, refusals);
    check_offload(scenario, refusals);
    check_precision(scenario, refusals);
    check_optimizer(scenario, refusals);
    check_graphs(scenario, refusals);
}

}  // namespace debubble::scenarios
