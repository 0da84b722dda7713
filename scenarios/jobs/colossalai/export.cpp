#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/jobs/write/job_writer.h"

namespace debubble::jobs {
namespace {

using models::DataType;

/// The configuration of transformers for the network; empty if it is neither of the two.
std::string config_of(JobWriter& job) {
    const models::Architecture& a = job.s.model;
    const auto* attention = a.layers.first<models::Attention>();
    const auto* mlp = a.layers.first<models::DenseMlp>();
    const bool plain = attention != nullptr && mlp != nullptr && a.layers.kinds().size() == 1;
    if (plain && a.family == models::Family::Llama)
        return fmt::format(
            "config = LlamaConfig(\n    hidden_size={},\n    intermediate_size={},\n    "
            "num_hidden_layers={},\n    num_attention_heads={},\n    num_key_value_heads={},\n    "
            "max_position_embeddings={},\n    vocab_size={},\n    rms_norm_eps={},\n    "
            "rope_theta={},\n)\n",
            a.hidden, mlp->ffn, a.layers.count(), attention->heads, attention->kv_heads,
            a.max_positions, a.vocab, a.norm_eps, attention->rope_theta);
    if (plain && a.family == models::Family::Gpt2 && mlp->ffn == 4 * a.hidden)
        return fmt::format(
            "config = GPT2Config(\n    n_embd={},\n    n_layer={},\n    n_head={},\n    "
            "n_positions={},\n    vocab_size={},\n    resid_pdrop={},\n    "
            "layer_norm_epsilon={},\n)\n",
            a.hidden, a.layers.count(), attention->heads, a.max_positions, a.vocab,
            job.s.training.dropout.value_or(a.dropout), a.norm_eps);
    job.cannot(
        "model",
        "the model is defined in Python, and is neither a plain LlamaConfig nor a GPT2Config");
    return {};
}

std::string style_of(JobWriter& job) {
    const scenarios::Scenario& s = job.s;
    const std::string& name = s.schedule.name;
    if (name == "1f1b") return "1f1b";
    if (name == "interleaved-1f1b") return "interleaved";
    if (name == "zb-v") {
        job.cannot("schedule.scheduler_nodes",
                   "zbv needs scheduler_nodes, which the plugin derives from the costs of passes");
        return "zbv";
    }
    if (s.parallel.pipeline > 1)
        job.cannot("schedule.name", fmt::format("Colossal-AI's pipelines are 1f1b, interleaved and "
                                                "zbv, not {}",
                                                name));
    return "1f1b";
}

}  // namespace

std::string write_colossalai(JobWriter& job) {
    const scenarios::Scenario& s = job.s;
    const scenarios::Parallel& p = s.parallel;
    const scenarios::Training& t = s.training;
    std::string out = config_of(job);
    const std::string style = style_of(job);
    out += "plugin = HybridParallelPlugin(\n";
    const auto say = [&](std::string_view name, const std::string& value) {
        out += fmt::format("    {}={},\n", name, value);
    };
    const auto truth = [](bool value) { return std::string(value ? "True" : "False"); };
    say("tp_size", std::to_string(p.tensor));
    say("pp_size", std::to_string(p.pipeline));
    if (p.context > 1) {
        const std::string_view way = word_of(s.framework.kernels.context_communication);
        say("sp_size", std::to_string(p.context));
        say("enable_sequence_parallelism", "True");
        const bool ring = way.ends_with("p2p") || !divides_heads(s);
        say("sequence_parallelism_mode", ring ? "\"ring_attn\"" : "\"all_to_all\"");
        if (way == "all-gather" || way == "a2a+p2p")
            job.cannot("framework.context_communication",
                       "Colossal-AI supports context parallelism by all_to_all or ring_attn");
        if (p.sequence && p.tensor > 1)
            job.cannot("parallel.sequence",
                       "Colossal-AI splits the sequence over sp_size or over tp_size, not both");
    } else if (p.sequence) {
        say("enable_sequence_parallelism", "True");
        say("sequence_parallelism_mode", "\"split_gather\"");
    }
    say("pp_style", "\"" + style + "\"");
    say("num_model_chunks", std::to_string(style == "1f1b" ? 1 : p.stages_per_rank));
    const int zero = std::min(p.zero_stage, p.pipeline > 1 ? 1 : 2);
    say("zero_stage", std::to_string(zero));
    if (p.zero_stage > zero)
        job.cannot("parallel.zero_stage",
                   "this plugin supports at most ZeRO-1 with PP, and no ZeRO-3");
    if (p.copies() > 1 && p.zero_stage > 0)
        job.cannot("parallel.shard", "Colossal-AI shards over all replicas");
    if (p.pipeline > 1) {
        say("microbatch_size", std::to_string(t.micro_batch));
        const bool outside = p.order == scenarios::RankOrder::parse("tp-cp-ep-pp-dp");
        say("dp_outside", outside ? "True" : "False");
        if (!outside && p.order != scenarios::RankOrder{})
            job.cannot("parallel.order", "Colossal-AI has data inside or outside of the pipeline");
    }
    const DataType type = t.precision.compute;
    say("precision", fmt::format("\"{}\"", word_of(type)));
    if (type != DataType::Fp32 && t.precision.grads != type)
        job.cannot("training.precision", "Colossal-AI keeps gradients in the parameters' type");
    if (t.precision.recipe != models::Recipe::None)
        job.cannot("training.precision", "Colossal-AI's plugin does not support these 8-bit GEMMs");
    say("enable_flash_attention", truth(t.attention == models::AttentionKernel::Flash));
    say("enable_fused_normalization", truth(s.framework.kernels.fused_norm));
    say("overlap_communication", truth(s.framework.overlap_grad_reduce));
    const std::int64_t bucket = s.framework.grad_bucket.count;
    if (zero > 0)
        say("zero_bucket_size_in_m",
            std::to_string(std::max<std::int64_t>((bucket >> 20) / models::size_of(type), 1)));
    else
        say("ddp_bucket_cap_mb", std::to_string(std::max<std::int64_t>(bucket / 1'000'000, 1)));
    say("make_vocab_size_divisible_by", std::to_string(s.framework.kernels.vocabulary_multiple));
    if (t.offload_optimizer) say("cpu_offload", "True");
    const std::vector<int> layers = layers_of_stages(s);
    const bool as_planned = style != "1f1b" || p.stages_per_rank == 1;
    if (p.pipeline > 1 && as_planned && !layers.empty() && !is_even(layers))
        say("num_layers_per_stage", fmt::format("[{}]", fmt::join(layers, ", ")));
    out += ")\n";
    const bool pipeline = p.pipeline > 1;
    out += fmt::format("dataloader = plugin.prepare_dataloader(dataset, batch_size={})\n",
                       pipeline ? t.micro_batch * t.micro_batches : t.micro_batch);
    if (!pipeline && t.micro_batches > 1)
        job.cannot("training.global_batch", fmt::format("gradients are accumulated over {} batches "
                                                        "in the training loop",
                                                        t.micro_batches));
    if (t.recompute == models::Recompute::Full) out += "model.gradient_checkpointing_enable()\n";
    if (t.recompute != models::Recompute::Full && t.recompute != models::Recompute::None)
        job.cannot("training.recompute", "gradient_checkpointing_enable() recomputes whole layers");
    job.cannot("training.seq_length", "the sequence length is set in Python");
    if (scenarios::weight_decay_of(t.run.optimizer) == scenarios::WeightDecayOf::Matrices)
        job.cannot("training.optimizer.weight_decay_of",
                   "the written optimizer decays all of model.parameters()");
    out += s.framework.optimizer == scenarios::OptimizerKind::FusedAdam
               ? "optimizer = HybridAdam(model.parameters())\n"
               : "optimizer = torch.optim.AdamW(model.parameters())\n";
    return out;
}

}  // namespace debubble::jobs
