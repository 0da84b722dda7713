#include <algorithm>

#include <fmt/format.h>

#include "scenarios/jobs/write/job_writer.h"

/// GPT-NeoX's YAML (ea7aefd8, megatron/neox_arguments), with DeepSpeed's settings in it.
namespace debubble::jobs {
namespace {

using models::Activation;
using scenarios::Scenario;

std::string_view neox_activation_of(Activation activation) {
    switch (activation) {
        case Activation::Gelu:
        case Activation::GeluTanh: return "gelu";
        case Activation::Relu: return "relu";
        case Activation::Swiglu: return "swiglu";
        case Activation::Geglu: return "geglu";
        case Activation::SquaredRelu:
        case Activation::GegluTanh:
        case Activation::ClampedSwiglu:
        case Activation::Xielu:
        case Activation::Situ: return {};
    }
    return {};
}

std::string why_not_neox(const models::Architecture& a) {
    if (std::string why = why_not_plain(a, false); !why.empty()) return why;
    const auto& attention = *a.layers[0].as<models::Attention>();
    const auto& mlp = *a.layers[0].as<models::DenseMlp>();
    if (attention.qk_norm != models::QkNorm::None) return "norms of queries and keys";
    if (attention.qkv_bias != attention.output_bias)
        return "biases of only queries, keys and values";
    if (neox_activation_of(mlp.activation).empty()) return "activation of this kind";
    return {};
}

void say_network(JobWriter& job) {
    const models::Architecture& a = job.s.model;
    const auto& attention = *a.layers[0].as<models::Attention>();
    const auto& mlp = *a.layers[0].as<models::DenseMlp>();
    job.say("num_layers", a.layers.count());
    job.say("hidden_size", a.hidden);
    job.say("num_attention_heads", attention.heads);
    if (attention.kv_heads != attention.heads) job.say("num_kv_heads", attention.kv_heads);
    // A gated MLP has a third of the width that is said.
    const std::int64_t times = models::is_gated(mlp.activation) ? 3 : 1;
    job.say("intermediate_size", times * mlp.ffn);
    job.say("activation", std::string(neox_activation_of(mlp.activation)));
    if (mlp.activation == Activation::GeluTanh) job.flag("bias_gelu_fusion", true);
    const bool rms = a.norm == models::Norm::RmsNorm;
    job.say("norm", rms ? "rmsnorm" : "layernorm");
    job.say(rms ? "rms_norm_epsilon" : "layernorm_epsilon", fmt::format("{}", a.norm_eps));
    job.say("pos_emb", attention.alibi       ? "alibi"
                       : attention.rotary    ? "rotary"
                       : a.learned_positions ? "learned"
                                             : "none");
    if (attention.rotary) {
        job.say("rotary_emb_base", fmt::format("{}", attention.rope_theta));
        job.say("rotary_pct",
                fmt::format("{}",
                            static_cast<double>(attention.rotary_dim.value_or(attention.head_dim)) /
                                static_cast<double>(attention.head_dim)));
    }
    job.flag("gpt_j_residual", a.layers[0].parallel);
    job.flag("no_weight_tying", !a.tied_embedding);
    job.flag("use_bias_in_attn_linear", attention.qkv_bias);
    job.flag("use_bias_in_mlp", mlp.bias);
    if (attention.window) job.say("sliding_window_width", *attention.window);
    job.say("max_position_embeddings", a.max_positions);
    job.say("vocab_size", a.vocab);
}

void say_training(JobWriter& job) {
    const Scenario& s = job.s;
    const bool flash = s.training.attention == models::AttentionKernel::Flash;
    job.say("attention_config",
            fmt::format("[[[\"{}\"], {}]]", flash ? "flash" : "global", s.model.layers.count()));
    job.say("seq_length", s.training.seq_length);
    job.say("train_micro_batch_size_per_gpu", s.training.micro_batch);
    job.say("train_batch_size", s.training.global_batch);
    const bool full = s.training.recompute == models::Recompute::Full;
    job.flag("checkpoint_activations", full);
    if (full) job.say("checkpoint_num_layers", std::max(s.training.recompute_extent.together, 1));
    const double dropout = s.training.dropout.value_or(s.model.dropout);
    job.say("hidden_dropout", fmt::format("{}", dropout));
    job.say("attention_dropout", fmt::format("{}", dropout));
    job.say("make_vocab_size_divisible_by", s.framework.kernels.vocabulary_multiple);
    job.say("gradient_clipping", fmt::format("{}", s.training.run.clip_norm.value_or(0)));
    const scenarios::Precision& p = s.training.precision;
    if (p.compute == models::DataType::Fp16) job.say("fp16", "{enabled: true}");
    if (p.compute == models::DataType::Bf16) job.say("bf16", "{enabled: true}");
    if (p.grads == models::DataType::Fp32 && p.compute != models::DataType::Fp32)
        job.say("data_types", "{grad_accum_dtype: fp32}");
    const std::int64_t elements =
        std::max<std::int64_t>(s.framework.grad_bucket.count / models::size_of(p.grads), 1);
    // DeepSpeed has no pipeline with ZeRO-2 or 3.
    const int stage =
        s.parallel.pipeline > 1 ? std::min(s.parallel.zero_stage, 1) : s.parallel.zero_stage;
    job.say("zero_optimization",
            fmt::format("{{stage: {}, overlap_comm: {}, reduce_bucket_size: {}}}", stage,
                        s.framework.overlap_grad_reduce, elements));
    job.say("optimizer", "{type: Adam, params: {lr: 0.0003, betas: [0.9, 0.95], eps: 1.0e-8}}");
}

}  // namespace

std::string write_neox(JobWriter& job) {
    const scenarios::Parallel& p = job.s.parallel;
    job.say("pipe_parallel_size", p.pipeline);
    job.say("model_parallel_size", p.tensor);
    job.flag("sequence_parallel", p.sequence);
    if (p.context > 1) job.cannot("parallel.context", "GPT-NeoX has no context parallelism");
    const std::string why = why_not_neox(job.s.model);
    if (why.empty())
        say_network(job);
    else
        job.cannot("model", fmt::format("GPT-NeoX's networks have no {}", why));
    say_training(job);
    std::string out;
    for (const Field& field : job.fields) out += fmt::format("{}: {}\n", field.name, field.value);
    return out;
}

}  // namespace debubble::jobs
