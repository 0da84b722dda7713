#include "scenarios/jobs/write/job_writer.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "models/read/architecture_words.h"
#include "scenarios/plan/derived.h"
#include "scenarios/plan/packing.h"
#include "scenarios/plan/plan.h"
#include "scenarios/software/words.h"

namespace debubble::jobs {
namespace {

using models::DataType;
using scenarios::Scenario;
using Keys = std::map<std::string, std::string>;

template <class Value, std::size_t N>
std::string spelled(const std::pair<std::string_view, Value> (&words)[N], const Value& value) {
    return std::string(scenarios::word_in(words, value));
}

std::string yes_no(bool value) {
    return value ? "true" : "false";
}

void add_attention(const models::Architecture& a, Keys& keys) {
    const auto* attention = a.layers.first<models::Attention>();
    if (attention == nullptr) return;
    keys["model.heads"] = std::to_string(attention->heads);
    keys["model.kv_heads"] = std::to_string(attention->kv_heads);
    keys["model.head_dim"] = std::to_string(attention->head_dim);
    keys["model.positions"] = attention->rotary     ? "rope"
                              : a.learned_positions ? "learned"
                              : attention->alibi    ? "alibi"
                                                    : "none";
    keys["model.rope_theta"] = attention->rotary ? fmt::format("{}", attention->rope_theta) : "";
    keys["model.rotary_dim"] =
        attention->rotary_dim ? std::to_string(*attention->rotary_dim) : "all";
    keys["model.qk_norm"] = spelled(models::kQkNorms, attention->qk_norm);
    keys["model.window"] = attention->window ? std::to_string(*attention->window) : "none";
    keys["model.qkv_bias"] = yes_no(attention->qkv_bias);
    keys["model.latent_attention"] =
        attention->latent ? fmt::format("{} {} {}", attention->latent->query_rank.value_or(0),
                                        attention->latent->key_rank, attention->latent->rope_dim)
                          : "none";
}

void add_mlp(const models::Architecture& a, Keys& keys) {
    if (const auto* dense = a.layers.first<models::DenseMlp>()) {
        keys["model.ffn"] = std::to_string(dense->ffn);
        keys["model.activation"] = spelled(models::kActivations, dense->activation);
        keys["model.linear_bias"] = yes_no(dense->bias);
    }
    const auto* experts = a.layers.first<models::Experts>();
    keys["model.experts"] = experts != nullptr ? std::to_string(experts->count) : "0";
    if (experts == nullptr) return;
    keys["model.experts_ffn"] = std::to_string(experts->ffn);
    keys["model.experts_per_token"] = std::to_string(experts->per_token);
    keys["model.shared_ffn"] = std::to_string(experts->shared_ffn.value_or(0));
    keys["model.router"] = spelled(models::kRouters, experts->router);
    std::string order;
    for (int i = 0; i < a.layers.count(); ++i)
        order += a.layers[i].as<models::Experts>() != nullptr ? '1' : '0';
    keys["model.layer_groups"] = order;
}

/// Differences between networks that no other key shows.
std::string rest_of(models::Architecture a) {
    a.name = a.source = {};
    a.family = {};
    a.dropout = 0;
    a.zero_centred_norms = false;
    a.layers = a.layers.changed([](models::Layer& layer) {
        if (auto* attention = std::get_if<models::Attention>(&layer.mixer)) {
            attention->rope_scaling = {};
            attention->temperature = {};
            if (!attention->rotary) attention->rope_theta = 0;
        }
    });
    return models::architecture_json(a);
}

void add_model(const Scenario& s, Keys& keys) {
    const models::Architecture& a = s.model;
    keys["model.family"] = spelled(models::kFamilies, a.family);
    keys["model.layers"] = std::to_string(a.layers.count());
    keys["model.hidden"] = std::to_string(a.hidden);
    keys["model.vocab"] = std::to_string(a.vocab);
    keys["model.max_positions"] = std::to_string(a.max_positions);
    keys["model.norm"] = spelled(models::kNorms, a.norm);
    keys["model.norm_eps"] = fmt::format("{}", a.norm_eps);
    keys["model.tied_embedding"] = yes_no(a.tied_embedding);
    keys["model.mtp_layers"] = std::to_string(a.mtp_layers);
    add_attention(a, keys);
    add_mlp(a, keys);
    keys["model"] = rest_of(a);
}

void add_cut(const Scenario& s, Keys& keys) {
    const scenarios::Parallel& p = s.parallel;
    keys["gpus"] = std::to_string(s.gpus);
    for (const auto& [key, value] :
         std::initializer_list<std::pair<const char*, int>>{{"tensor", p.tensor},
                                                            {"pipeline", p.pipeline},
                                                            {"data", p.data},
                                                            {"context", p.context},
                                                            {"expert", p.expert},
                                                            {"expert_tensor", p.expert_tensor},
                                                            {"stages_per_rank", p.stages_per_rank},
                                                            {"zero_stage", p.zero_stage},
                                                            {"shard", p.shards()}})
        keys[std::string("parallel.") + key] = std::to_string(value);
    keys["parallel.order"] = p.order.text();
    keys["parallel.sequence"] = yes_no(p.sequence && p.tensor > 1);
    if (p.zero_stage == 3) {
        keys["parallel.wrap"] = p.wrap == scenarios::Wrap::Layer ? "layer" : "stage";
        keys["parallel.reshard"] = yes_no(p.reshard);
    }
    keys["parallel.communication_dtype"] = std::string(word_of(s.gradients_on_the_wire()));
    // Layers of multi-token prediction lie where only the layout says.
    const bool listed = !p.layout || s.model.mtp_layers == 0;
    keys["parallel.partition"] =
        listed ? fmt::format("[{}]", fmt::join(layers_of_stages(s), ", ")) : *p.layout;
    keys["schedule.name"] = s.schedule.csv ? "csv " + *s.schedule.csv : s.schedule.name;
    keys["schedule.slices"] = std::to_string(s.schedule.slices);
    for (const auto& [key, value] : s.schedule.options)
        if (value != "false") keys["schedule." + key] = value;
    if (const auto& limits = s.schedule.memory_limits; limits.size() == 1)
        keys["schedule.memory_limit"] = fmt::format("{}", limits.front());
    else if (!limits.empty())
        keys["schedule.memory_limit"] = fmt::format("[{}]", fmt::join(limits, ", "));
}

void add_training(const Scenario& s, Keys& keys) {
    const scenarios::Training& t = s.training;
    keys["training.global_batch"] = std::to_string(t.global_batch);
    keys["training.micro_batch"] = std::to_string(t.micro_batch);
    keys["training.seq_length"] = std::to_string(t.seq_length);
    keys["training.precision"] = precision_text(t.precision);
    keys["training.recompute"] = recompute_text(t);
    keys["training.attention"] =
        t.attention == models::AttentionKernel::Flash ? "flash" : "unfused";
    keys["training.offload_optimizer"] = yes_no(t.offload_optimizer);
    keys["training.offload"] = offload_text(t);
    keys["training.dropout"] = fmt::format("{}", t.dropout.value_or(s.model.dropout));
    if (s.model.has_experts()) {
        keys["training.router"] =
            t.expert_load_unknown ? "learned" : fmt::format("{}", t.expert_load);
        keys["training.moe_aux_loss_coeff"] = fmt::format("{}", t.routers.aux_loss_coeff);
        keys["training.moe_z_loss_coeff"] = fmt::format("{}", t.routers.z_loss_coeff);
        if (t.routers.aux_loss_coeff > 0)
            keys["training.moe_router_load_balancing_type"] =
                t.routers.balancing == scenarios::RouterOptions::Balancing::AuxLoss
                    ? "aux_loss"
                    : "seq_aux_loss";
    }
    keys["training.lora"] = std::to_string(t.lora ? t.lora->rank : 0);
    keys["training.optimizer"] = std::to_string(t.run.optimizer.index());
}

void add_software(const Scenario& s, Keys& keys) {
    const scenarios::Framework& f = s.framework;
    const models::KernelOptions& k = f.kernels;
    keys["framework.base"] = f.name;
    // Passes that gather reduce too.
    keys["framework.overlap_grad_reduce"] =
        yes_no(f.overlap_grad_reduce || s.parallel.gathers_in_passes());
    keys["framework.overlap_param_gather"] = yes_no(f.overlap_param_gather);
    if (f.overlap_grad_reduce && s.has_replicas() && s.parallel.zero_stage < 2)
        keys["framework.grad_bucket"] = std::to_string(f.grad_bucket.count);
    if (const auto limits = scenarios::gather_limits(s))
        for (const auto& [limit, name] : scenarios::kStage3Limits)
            keys[fmt::format("framework.{}", name)] =
                std::to_string((scenarios::given(*limits).*limit).value_or(0));
    keys["framework.loss"] = std::string(word_of(k.loss));
    keys["framework.attention_mask_tensor"] = yes_no(k.attention_mask_tensor);
    keys["framework.vocabulary_multiple"] = std::to_string(k.vocabulary_multiple);
    if (s.schedule.name == "interleaved-1f1b") {
        using scenarios::MessagesBlock;
        keys["framework.point_to_point_blocks"] =
            yes_no(f.point_to_point_blocks == MessagesBlock::Always ||
                   f.point_to_point_blocks == MessagesBlock::ByWholeBackward);
    }
    if (s.model.has_experts()) {
        keys["framework.moe_shared_expert_overlap"] = yes_no(k.shared_expert_overlap);
        keys["framework.dispatcher"] = std::string(word_of(k.dispatcher));
        keys["framework.moe_dispatch_fwd_dtype"] =
            std::string(scenarios::word_in(scenarios::kRowTypes, k.moe_dispatch_fwd_dtype));
        keys["framework.moe_combine_bwd_dtype"] =
            std::string(scenarios::word_in(scenarios::kRowTypes, k.moe_combine_bwd_dtype));
        keys["framework.capacity_factor"] =
            f.capacity_factor ? fmt::format("{}", *f.capacity_factor) : "none";
    }
    keys["framework.cuda_graphs"] = fmt::format("{}", fmt::join(graph_words(f.cuda_graphs), " "));
    keys["framework.tensor_overlap"] = yes_no(f.tensor_overlap);
    if (s.parallel.context > 1)
        keys["framework.context_communication"] = std::string(word_of(k.context_communication));
    if (scenarios::packs_in_step(s)) {
        keys["parallel.dynamic_context_parallel"] = yes_no(s.parallel.dynamic_context_parallel);
        keys["parallel.min_dynamic_context_parallel_size"] =
            fmt::format("{}", s.parallel.min_dynamic_context_parallel_size);
        keys["parallel.max_seqlen_per_dp_cp_rank"] = fmt::format("{}", scenarios::rank_capacity(s));
        keys["imbalance.sequence.global_batch_packing"] =
            yes_no(s.imbalance.documents->global_batch_packing);
    }
    if (s.parallel.context > 1 &&
        k.context_communication == models::ContextCommunication::TwoLevel) {
        const scenarios::ContextLevels levels = scenarios::context_levels(s);
        keys["parallel.hierarchical_context_parallel_sizes"] =
            fmt::format("[{}, {}]", levels.inner, levels.outer);
    }
    keys["framework.gradient_accumulation_fusion"] = yes_no(k.gradient_accumulation_fusion);
    keys["framework.fused_rope"] = yes_no(k.fused_rope);
    keys["framework.fused_bias_activation"] = yes_no(k.fused_bias_activation);
    keys["framework.fused_bias_dropout_add"] = yes_no(k.fused_bias_dropout_add);
    keys["framework.fused_norm"] = yes_no(k.fused_norm);
    keys["framework.reduces_by_layer"] = yes_no(f.reduces_by_layer);
    keys["framework.optimizer"] = spelled(scenarios::kOptimizers, f.optimizer);
}

}  // namespace

std::string_view word_of(DataType type) {
    switch (type) {
        case DataType::Fp32: return "fp32";
        case DataType::Fp16: return "fp16";
        case DataType::Bf16: return "bf16";
        case DataType::Fp8: return "fp8";
    }
    return {};
}

std::string_view word_of(models::LossKernel loss) {
    return scenarios::word_in(scenarios::kLosses, loss);
}

std::string_view word_of(models::Dispatcher dispatcher) {
    return scenarios::word_in(scenarios::kDispatchers, dispatcher);
}

std::string_view word_of(models::ContextCommunication communication) {
    return scenarios::word_in(scenarios::kContextCommunications, communication);
}

std::string precision_text(const scenarios::Precision& p) {
    constexpr ArrayBy<scenarios::ParamGather, std::string_view, 3> kGathers{"bf16", "fp8", "fp4"};
    return fmt::format(
        "compute {}, main {}, grads {}, moments {}, scaling {}, main grads {}, "
        "recipe {}, gather {}, attention {}, activations {}, bf16 layers {} {}",
        word_of(p.compute), p.main_params ? word_of(*p.main_params) : "none", word_of(p.grads),
        word_of(p.moments), p.loss_scaling, p.main_grads, models::name_of(p.recipe),
        kGathers[p.param_gather], p.fp8_attention, p.fp8_activations, p.bf16_first, p.bf16_last);
}

std::vector<std::string> graph_words(const scenarios::CudaGraphs& graphs) {
    if (graphs.full_iteration) return {std::string(scenarios::kAllGraphs)};
    std::vector<std::string> words;
    for (const auto& [word, scope] : scenarios::kGraphScopeWords)
        if (graphs.scopes[scope]) words.emplace_back(word);
    return words;
}

std::vector<int> layers_of_stages(const Scenario& s) {
    std::vector<int> layers;
    try {
        for (const models::StageContent& stage :
             scenarios::partition_of(s, s.parallel.pipeline * s.parallel.stages_per_rank))
            layers.push_back(stage.layers);
    } catch (const InputError&) {  // a schedule with other stages
        layers.clear();
    }
    return layers;
}

bool is_even(const std::vector<int>& layers) {
    return std::ranges::all_of(layers, [&](int n) { return n == layers.front(); });
}

Keys plan_keys(const Scenario& scenario) {
    Keys keys;
    add_model(scenario, keys);
    add_cut(scenario, keys);
    add_training(scenario, keys);
    add_software(scenario, keys);
    return keys;
}

}  // namespace debubble::jobs
