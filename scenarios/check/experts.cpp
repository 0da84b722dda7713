#include <algorithm>

#include <fmt/format.h>

#include "scenarios/check/parts.h"
#include "scenarios/plan/derived.h"

/// Experts on the ranks that share and cut them, and what overlaps their all-to-all.
namespace debubble::scenarios {

/// Rules of Megatron-Core (core/transformer/transformer_config.py).
void check_shared_experts(Draft& draft) {
    const models::KernelOptions& kernels = draft.scenario.framework.kernels;
    if (!kernels.shared_expert_overlap) return;
    const models::Architecture& model = draft.scenario.model;
    const auto shared = [](const models::Layer& layer) {
        const auto* experts = layer.as<models::Experts>();
        return experts != nullptr && experts->shared_ffn;
    };
    if (std::ranges::none_of(model.layers.kinds(), shared))
        draft.scenario.notes.push_back(
            "moe_shared_expert_overlap has no effect: the model has no shared experts");
    else if (draft.scenario.parallel.expert == 1)
        draft.scenario.notes.push_back(
            "moe_shared_expert_overlap has no effect: there is no all-to-all, since 'expert' is 1");
    if (kernels.dispatcher != models::Dispatcher::AllToAll)
        draft.top.complain("framework", "moe_shared_expert_overlap needs the dispatcher alltoall");
    if (draft.scenario.schedule.pairs_layers)
        draft.top.complain("framework",
                           fmt::format("moe_shared_expert_overlap and schedule '{}' both overlap "
                                       "the experts' all-to-all and cannot be combined",
                                       draft.scenario.schedule.name));
}

/// A kernel that the recipe or the GPU does not have is refused.
void check_fused_experts(Draft& draft) {
    const Scenario& scenario = draft.scenario;
    if (scenario.framework.fused_experts != FusedExperts::Always) return;
    if (!may_fuse_experts(scenario))
        draft.top.complain("framework",
                           "fused_experts: the kernel needs experts with a gated activation, the "
                           "recipe mxfp8 and a GPU with 4-bit matrix units");
}

/// Experts are distributed over a stage's ranks and cut there, by Megatron-Core's rules.
void check_experts(Draft& draft) {
    const models::Architecture& model = draft.scenario.model;
    Parallel& parallel = draft.scenario.parallel;
    parallel.expert_tensor =
        draft.expert_tensor.value_or(model.has_experts() ? parallel.tensor : 1);
    const auto complain = [&](std::string_view key, std::string sentence) {
        draft.parallel.complain(key, std::move(sentence));
    };
    if (!model.has_experts()) {
        if (parallel.expert > 1)
            complain("expert",
                     fmt::format("'expert' is {}, but the model has no experts", parallel.expert));
        if (parallel.expert_tensor > 1)
            complain("expert_tensor",
                     fmt::format("'expert_tensor' is {}, but the model has no experts",
                                 parallel.expert_tensor));
        if (draft.scenario.training.expert_load > 1)
            draft.training.complain("expert_load", "the model has no experts to load");
        const RouterOptions& routers = draft.scenario.training.routers;
        if (routers.aux_loss_coeff > 0)
            draft.training.complain("moe_aux_loss_coeff", "the model has no experts to balance");
        if (routers.z_loss_coeff > 0)
            draft.training.complain("moe_z_loss_coeff", "the model has no router");
        return;
    }
    for (const models::Layer& layer : model.layers.kinds()) {
        const auto* experts = layer.as<models::Experts>();
        if (experts == nullptr) continue;
        need_divides(draft, experts->count, parallel.expert, "experts", "expert");
        need_divides(draft, experts->ffn, parallel.expert_tensor, "columns of an expert",
                     "expert_tensor");
    }
    if (parallel.tensor > 1 && !parallel.sequence)
        complain("sequence",
                 "experts with tensor parallelism need sequence parallelism, so that each rank "
                 "sends its own tokens");
    const int ranks = parallel.ranks_of_stage();
    const std::int64_t asked = std::int64_t{parallel.expert} * parallel.expert_tensor;
    if (ranks % asked != 0) {
        complain(
            "expert",
            fmt::format("expert {} x expert_tensor {} = {} GPUs do not divide the {} of a stage",
                        parallel.expert, parallel.expert_tensor, asked, ranks));
        return;
    }
    if (parallel.expert_replicas() % parallel.copies() != 0)
        complain("shard",
                 fmt::format("the {} ranks with the same experts cannot be divided into {} copies",
                             parallel.expert_replicas(), parallel.copies()));
}

/// A gather of all tokens, and the sum of their results, have no casts around them.
void check_sent_rows(Draft& draft) {
    const Scenario& s = draft.scenario;
    const models::KernelOptions& kernels = s.framework.kernels;
    const bool narrow = kernels.moe_dispatch_fwd_dtype != models::Narrow::None ||
                        kernels.moe_combine_bwd_dtype != models::Narrow::None;
    if (!s.model.has_experts() || !narrow) return;
    if (kernels.dispatcher == models::Dispatcher::AllGather)
        draft.top.complain("framework",
                           "moe_dispatch_fwd_dtype and moe_combine_bwd_dtype need the dispatcher "
                           "alltoall, deepep or hybridep, not allgather");
    if (s.training.precision.compute == models::DataType::Fp32)
        draft.top.complain("framework",
                           "8-bit dispatch casts 16-bit tokens, but training.precision is fp32");
}

/// A graph replays kernels of fixed sizes: experts in it must take as many rows in every pass
/// (Megatron-LM d98e8a6, core/transformer/transformer_config.py, drop and pad).
void check_graphs_of_experts(Draft& draft) {
    const Framework& framework = draft.scenario.framework;
    const CudaGraphs& graphs = framework.cuda_graphs;
    if (!draft.scenario.model.has_experts() || framework.capacity_factor || graphs.full_iteration ||
        !graphs.has(GraphScope::Moe))
        return;
    draft.top.complain("framework",
                       "a CUDA graph of experts ('moe', or a whole 'layer') needs the same number "
                       "of tokens in every pass: set 'capacity_factor'");
}

/// Rules of Megatron-Core with the overlap of the experts' all-to-all (Megatron-LM d98e8a6,
/// core/transformer/transformer_config.py:3002).
void check_overlapped_experts(Draft& draft) {
    const Scenario& s = draft.scenario;
    const auto refuse = [&](std::string_view what) {
        draft.top.complain("schedule",
                           fmt::format("schedule '{}' overlaps the experts' all-to-all: {}",
                                       s.schedule.name, what));
    };
    if (!s.model.has_experts()) {
        draft.scenario.notes.push_back(fmt::format(
            "schedule '{}' overlaps nothing: the model has no experts", s.schedule.name));
        return;
    }
    if (s.parallel.expert == 1) refuse("it needs expert parallelism, but 'expert' is 1");
    if (s.framework.kernels.dispatcher == models::Dispatcher::AllGather)
        refuse("the dispatcher must be alltoall, deepep or hybridep, not allgather");
    if (s.training.recompute == models::Recompute::Full)
        refuse("whole layers cannot be recomputed in it; modules other than moe can");
    if (s.training.recompute_extent.modules.has(models::Module::Moe))
        refuse("the module moe cannot be recomputed in it");
    if (s.training.precision.compute == models::DataType::Fp32)
        refuse("it computes in 16 bits, but 'compute' is fp32");
    const CudaGraphs& graphs = s.framework.cuda_graphs;
    if (!graphs.full_iteration && (graphs.has(GraphScope::Mlp) || graphs.has(GraphScope::Moe)))
        refuse(
            "MLPs and experts cannot be CUDA graphs in it; attn, moe_router and moe_preprocess can "
            "be");
    if (s.model.mtp_layers > 1)
        refuse(fmt::format("it supports one layer of multi-token prediction, but there are {}",
                           s.model.mtp_layers));
}

}  // namespace debubble::scenarios
