#include <algorithm>

#include <fmt/format.h>

#include "scenarios/jobs/write/job_writer.h"

/// nanotron's YAML (2411b022, config/config.py), whose keys all stand there, since it takes no
/// others and has few defaults.
namespace debubble::jobs {
namespace {

using models::Activation;
using scenarios::Scenario;

/// Why nanotron's llama and qwen2 are not this network.
std::string why_not_nanotron(const models::Architecture& a) {
    if (std::string why = why_not_plain(a, false); !why.empty()) return why;
    const auto& attention = *a.layers[0].as<models::Attention>();
    const auto& mlp = *a.layers[0].as<models::DenseMlp>();
    if (a.norm != models::Norm::RmsNorm) return "layer norms";
    if (!attention.rotary || attention.rotary_dim || attention.alibi)
        return "positions other than RoPE over whole heads";
    if (attention.qk_norm != models::QkNorm::None) return "norms of queries and keys";
    if (mlp.activation != Activation::Swiglu) return "an activation other than swiglu";
    if (mlp.bias || attention.output_bias) return "biases";
    if (a.layers[0].parallel) return "attention and MLP in one sum";
    return {};
}

std::string network_of(const models::Architecture& a) {
    const auto& attention = *a.layers[0].as<models::Attention>();
    const auto& mlp = *a.layers[0].as<models::DenseMlp>();
    const bool qwen = attention.qkv_bias || attention.window;
    std::string out = fmt::format("    is_{}_config: true\n", qwen ? "qwen2" : "llama");
    const auto line = [&](std::string_view name, const auto& value) {
        out += fmt::format("    {}: {}\n", name, value);
    };
    line("hidden_size", a.hidden);
    line("num_hidden_layers", a.layers.count());
    line("num_attention_heads", attention.heads);
    line("num_key_value_heads", attention.kv_heads);
    line("intermediate_size", mlp.ffn);
    line("hidden_act", "silu");
    line("vocab_size", a.vocab);
    line("max_position_embeddings", a.max_positions);
    line("rms_norm_eps", a.norm_eps);
    line("rope_theta", attention.rope_theta);
    line("tie_word_embeddings", a.tied_embedding);
    if (qwen) line("attention_bias", attention.qkv_bias);
    if (attention.window) line("sliding_window_size", *attention.window);
    return out;
}

std::string optimizer_section(const Scenario& s) {
    const scenarios::Precision& p = s.training.precision;
    const bool fused = s.framework.optimizer == scenarios::OptimizerKind::FusedAdam;
    const bool sgd = std::holds_alternative<scenarios::SgdOptions>(s.training.run.optimizer);
    std::string out = fmt::format(
        "optimizer:\n  zero_stage: {}\n  weight_decay: 0.01\n  accumulate_grad_in_fp32: {}\n",
        std::min(s.parallel.zero_stage, 1), p.grads == models::DataType::Fp32);
    if (const auto clip = s.training.run.clip_norm) out += fmt::format("  clip_grad: {}\n", *clip);
    out +=
        "  learning_rate_scheduler: {learning_rate: 0.0003, lr_warmup_steps: 10, "
        "lr_warmup_style: linear, lr_decay_style: cosine, min_decay_lr: 1.0e-05}\n"
        "  optimizer_factory:\n";
    return out + (sgd ? std::string("    name: sgd\n")
                      : fmt::format("    name: adamW\n    adam_eps: 1.0e-08\n    adam_beta1: 0.9\n"
                                    "    adam_beta2: 0.95\n    torch_adam_is_fused: {}\n",
                                    fused));
}

std::string parallelism_section(const Scenario& s) {
    const scenarios::Parallel& p = s.parallel;
    return fmt::format(
        "parallelism:\n  dp: {}\n  pp: {}\n  tp: {}\n  context_parallel_size: {}\n"
        "  expert_parallel_size: {}\n  pp_engine: {}\n  tp_mode: {}\n"
        "  tp_linear_async_communication: {}\n  recompute_layer: {}\n  tp_recompute_allgather: "
        "{}\n",
        p.data, p.pipeline, p.tensor, p.context, p.expert,
        s.schedule.name == "gpipe" ? "afab" : "1f1b", p.sequence ? "REDUCE_SCATTER" : "ALL_REDUCE",
        s.framework.overlap_tensor_backward, s.training.recompute == models::Recompute::Full,
        !s.framework.kernels.keeps_gathered);
}

}  // namespace

std::string write_nanotron(JobWriter& job) {
    const Scenario& s = job.s;
    std::string out = "general:\n  project: debubble\n  seed: 42\nmodel:\n";
    const models::DataType type = s.training.precision.compute;
    out += fmt::format("  dtype: {}\n", type == models::DataType::Fp32   ? "float32"
                                        : type == models::DataType::Fp16 ? "float16"
                                                                         : "bfloat16");
    out += fmt::format("  make_vocab_size_divisible_by: {}\n  ddp_bucket_cap_mb: {}\n",
                       s.framework.kernels.vocabulary_multiple,
                       std::max<std::int64_t>(s.framework.grad_bucket.count >> 20, 1));
    out += "  init_method:\n    std: 0.02\n";
    if (scenarios::weight_decay_of(s.training.run.optimizer) == scenarios::WeightDecayOf::Matrices)
        job.cannot("training.optimizer.weight_decay_of", "nanotron decays all parameters");
    const std::string why = why_not_nanotron(s.model);
    if (why.empty())
        out += "  model_config:\n" + network_of(s.model);
    else
        job.cannot("model", fmt::format("nanotron's networks have no {}", why));
    out += optimizer_section(s) + parallelism_section(s);
    const std::int64_t steps = s.training.micro_batches;
    out += fmt::format(
        "tokens:\n  sequence_length: {}\n  micro_batch_size: {}\n  "
        "batch_accumulation_per_replica: {}\n  train_steps: 100\n",
        s.training.seq_length, s.training.micro_batch, steps);
    return out;
}

}  // namespace debubble::jobs
