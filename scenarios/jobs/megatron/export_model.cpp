#include <fmt/format.h>

#include "scenarios/jobs/write/job_writer.h"

/// Megatron-Core's fields of a network.
namespace debubble::jobs {
namespace {

using models::Activation;

void add_size(JobWriter& job) {
    const models::Architecture& a = job.s.model;
    job.say("num_layers", a.layers.count());
    job.say("hidden_size", a.hidden);
    job.say("max_position_embeddings", a.max_positions);
    job.say("seq_length", job.s.training.seq_length);
    job.say("tokenizer_type", "NullTokenizer");
    job.say("vocab_size", a.vocab);
    job.say("make_vocab_size_divisible_by", job.s.framework.kernels.vocabulary_multiple);
    job.say("normalization", a.norm == models::Norm::RmsNorm ? "RMSNorm" : "LayerNorm");
    job.say("norm_epsilon", fmt::format("{}", a.norm_eps));
    job.flag("untie_embeddings_and_output_weights", !a.tied_embedding);
    if (a.zero_centred_norms) job.flag("apply_layernorm_1p", true);
    if (a.mtp_layers > 0) {
        job.say("mtp_num_layers", a.mtp_layers);
        job.say("mtp_loss_scaling_factor",
                fmt::format("{}", job.s.training.mtp_loss_scaling_factor));
    }
    const double dropout = job.s.training.dropout.value_or(a.dropout);
    job.say("hidden_dropout", fmt::format("{}", dropout));
    job.say("attention_dropout", fmt::format("{}", dropout));
}

void add_attention_fields(JobWriter& job) {
    const models::Architecture& a = job.s.model;
    const auto* attention = a.layers.first<models::Attention>();
    if (attention == nullptr) return;
    job.say("num_attention_heads", attention->heads);
    if (attention->latent) {
        job.flag("multi_latent_attention", true);
        if (attention->latent->query_rank) job.say("q_lora_rank", *attention->latent->query_rank);
        job.say("kv_lora_rank", attention->latent->key_rank);
        job.say("qk_head_dim", attention->head_dim - attention->latent->rope_dim);
        job.say("qk_pos_emb_head_dim", attention->latent->rope_dim);
        job.say("v_head_dim", attention->value_dim);
    } else {
        if (attention->kv_heads != attention->heads) {
            job.flag("group_query_attention", true);
            job.say("num_query_groups", attention->kv_heads);
        }
        job.say("kv_channels", attention->head_dim);
    }
    job.say("position_embedding_type", attention->rotary     ? "rope"
                                       : a.learned_positions ? "learned_absolute"
                                                             : "none");
    if (attention->rotary) {
        job.say("rotary_base", fmt::format("{}", attention->rope_theta));
        if (attention->rotary_dim)
            job.say("rotary_percent",
                    fmt::format("{}", static_cast<double>(*attention->rotary_dim) /
                                          static_cast<double>(attention->head_dim)));
    }
    if (attention->qk_norm == models::QkNorm::Heads) job.flag("qk_layernorm", true);
    if (attention->window) job.say("window_size", fmt::format("{},0", *attention->window - 1));
}

void add_activation(JobWriter& job, Activation activation) {
    switch (activation) {
        case Activation::Swiglu: job.flag("swiglu", true); return;
        case Activation::SquaredRelu: job.flag("squared_relu", true); return;
        case Activation::ClampedSwiglu: job.flag("quick_geglu", true); return;
        case Activation::GeluTanh: return;
        case Activation::Gelu:
        case Activation::Relu:
        case Activation::Geglu:
        case Activation::GegluTanh:
        case Activation::Xielu:
        case Activation::Situ:
            job.cannot("model.activation",
                       "Megatron-LM has no flag for this activation; its GELU "
                       "is written");
    }
}

void add_experts_fields(JobWriter& job, const models::Experts& experts) {
    const models::Architecture& a = job.s.model;
    const scenarios::Training& t = job.s.training;
    job.say("num_experts", experts.count);
    job.say("moe_router_topk", experts.per_token);
    job.say("moe_ffn_hidden_size", experts.ffn);
    if (experts.shared_ffn) job.say("moe_shared_expert_intermediate_size", *experts.shared_ffn);
    if (experts.shared_gate) job.flag("moe_shared_expert_gate", true);
    if (experts.latent) job.say("moe_latent_size", *experts.latent);
    if (experts.router == models::Router::Sigmoid) job.say("moe_router_score_function", "sigmoid");
    if (experts.router == models::Router::PreSoftmax) job.flag("moe_router_pre_softmax", true);
    if (experts.groups > 1) {
        job.say("moe_router_num_groups", experts.groups);
        job.say("moe_router_group_topk", experts.groups_chosen);
    }
    if (experts.scaling != 1)
        job.say("moe_router_topk_scaling_factor", fmt::format("{}", experts.scaling));
    if (experts.router_dtype == models::RouterDtype::Fp32) job.say("moe_router_dtype", "fp32");
    if (experts.bias_correction) job.flag("moe_router_enable_expert_bias", true);
    if (t.routers.aux_loss_coeff > 0) {
        job.say("moe_router_load_balancing_type",
                t.routers.balancing == scenarios::RouterOptions::Balancing::AuxLoss
                    ? "aux_loss"
                    : "seq_aux_loss");
        job.say("moe_aux_loss_coeff", fmt::format("{}", t.routers.aux_loss_coeff));
    }
    if (t.routers.z_loss_coeff > 0)
        job.say("moe_z_loss_coeff", fmt::format("{}", t.routers.z_loss_coeff));
    if (!t.expert_load_unknown && t.expert_load == 1)
        job.flag("moe_router_force_load_balancing", true);
    if (t.expert_load > 1)
        job.cannot("training.router",
                   "the load of the most loaded rank follows from the data and is not a flag");
    std::string order;
    for (int i = 0; i < a.layers.count();) {
        const bool here = a.layers[i].as<models::Experts>() != nullptr;
        int j = i;
        while (j < a.layers.count() && (a.layers[j].as<models::Experts>() != nullptr) == here) ++j;
        order += fmt::format("{}[{}]*{}", order.empty() ? "" : "+", here ? 1 : 0, j - i);
        i = j;
    }
    if (a.layers.first<models::DenseMlp>() != nullptr) job.say("moe_layer_freq", "(" + order + ")");
    const std::string_view word = word_of(job.s.framework.kernels.dispatcher);
    const bool flex = word == "deepep" || word == "hybridep";
    job.say("moe_token_dispatcher_type", std::string(flex ? "flex" : word));
    if (flex) job.say("moe_flex_dispatcher_backend", std::string(word));
    if (job.s.framework.capacity_factor)
        job.say("moe_expert_capacity_factor", fmt::format("{}", *job.s.framework.capacity_factor));
}

void add_mlp_fields(JobWriter& job) {
    const models::Architecture& a = job.s.model;
    const auto* dense = a.layers.first<models::DenseMlp>();
    const auto* experts = a.layers.first<models::Experts>();
    const auto* attention = a.layers.first<models::Attention>();
    if (dense != nullptr) job.say("ffn_hidden_size", dense->ffn);
    const bool bias = dense != nullptr ? dense->bias : experts != nullptr && experts->bias;
    job.flag("bias_linear", bias);
    if (attention != nullptr && attention->qkv_bias && !bias) job.flag("add_qkv_bias", true);
    if (dense != nullptr || experts != nullptr)
        add_activation(job, dense != nullptr ? dense->activation : experts->activation);
    if (experts != nullptr) add_experts_fields(job, *experts);
}

}  // namespace

void add_model_fields(JobWriter& job) {
    add_size(job);
    add_attention_fields(job);
    add_mlp_fields(job);
}

}  // namespace debubble::jobs
