#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/megatron/network.h"
#include "scenarios/jobs/read/zoo_names.h"

namespace debubble::jobs {
namespace {

/// Megatron-LM's names of tokenizers, with the tokens of each where the type alone says them.
constexpr std::pair<std::string_view, std::int64_t> kTokenizers[] = {{"GPT2BPETokenizer", 50257},
                                                                     {"Llama2Tokenizer", 32000},
                                                                     {"Llama3Tokenizer", 128256},
                                                                     {"nemotron_2_256k", 256000}};
void read_vocabulary(Reading& job) {
    Settings& in = job.in;
    const std::optional<std::string> type = in.word("tokenizer_type");
    const Setting* const named = in.find("tokenizer_type");
    const std::optional<std::int64_t> size = in.whole("vocab_size", 1, kMost);
    const Setting* const said = in.find("vocab_size");
    const std::optional<std::string> given = job.given("model.vocab");
    const std::optional<std::int64_t> padded = in.whole("padded_vocab_size", 1, kMost);
    if (padded && !given) {
        job.set("model.vocab", *padded, in.find("padded_vocab_size"));
        return;
    }
    if (given && !size) {
        job.note(fmt::format("the vocabulary size is the tokenizer's{}; {} was given",
                             type ? fmt::format(" ({})", *type) : std::string(), *given),
                 Harm::Harmless);
        return;
    }
    if (size) {
        job.set("model.vocab", *size, said);
        return;
    }
    for (const auto& [name, tokens] : kTokenizers)
        if (type == name) {
            job.set("model.vocab", tokens, named, "the tokens of that tokenizer");
            return;
        }
    const Setting* const model = in.find("tokenizer_model");
    if (model != nullptr && model->value->is(text::Node::Kind::Scalar) && model->known)
        if (const auto tokens = vocabulary_of_model(model->value->scalar)) {
            job.set("model.vocab", *tokens, model, "the tokens of that model");
            return;
        }
    job.ask(
        fmt::format(
            "how large is the vocabulary? It is the tokenizer's{}; give it by --set model.vocab=N",
            type ? fmt::format(" ({})", *type) : std::string()),
        {"vocab_size"});
}

/// The activation of the MLP in a scenario's word.
std::string activation_of(Reading& job) {
    Settings& in = job.in;
    const std::optional<std::string> function = in.word("activation_func");
    const bool gated = in.is_on("gated_linear_unit");
    if (in.is_on("swiglu") ||
        (gated && (!function || *function == "silu" || *function == "swiglu")) ||
        function == "swiglu")
        return "swiglu";
    if (gated && (function == "gelu" || function == "fast_gelu")) return "geglu_tanh";
    if (in.is_on("quick_geglu") || (gated && function == "quick_gelu")) return "clamped_swiglu";
    if (in.is_on("squared_relu") || function == "squared_relu") return "squared_relu";
    if (function == "relu") return "relu";
    return "gelu_tanh";
}

const Setting* first_of(Settings& in, std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (const Setting* const setting = in.find(name)) return setting;
    return nullptr;
}

void read_rotary(Reading& job, const std::string& positions, std::int64_t head_dim) {
    Settings& in = job.in;
    const std::optional<double> base = in.real("rotary_base");
    const std::optional<double> share = in.real("rotary_percent");
    if (positions != "rope") return;
    if (base && *base != 10000)
        job.set("model.rope_theta", fmt::format("{}", *base), in.find("rotary_base"));
    if (share && *share > 0 && *share < 1 && head_dim > 0)
        job.set("model.rotary_dim",
                static_cast<std::int64_t>(std::floor(*share * static_cast<double>(head_dim))),
                in.find("rotary_percent"));
    const Setting* const scaling = first_of(in, {"use_rope_scaling", "rope_scaling"});
    if (scaling != nullptr && in.flag(scaling->name).value_or(false))
        job.note(*scaling, "RoPE is scaled, which does not affect the plan", Harm::Harmless);
}

void read_heads(Reading& job, std::int64_t hidden, std::int64_t heads, std::int64_t& head_dim) {
    Settings& in = job.in;
    const bool grouped = in.is_on("group_query_attention");
    const std::optional<std::int64_t> groups = in.whole("num_query_groups", 1, kMost);
    // Fields of a configuration need no flag that switches them on.
    const bool as_field = in.find("num_query_groups") != nullptr &&
                          (!in.find("num_query_groups")->written.starts_with("--") ||
                           in.find("num_query_groups")->written == "--num-key-value-heads") &&
                          !in.has("group_query_attention");
    if (grouped || as_field) {
        const std::int64_t kv = groups.value_or(grouped ? 1 : heads);
        if (kv != heads)
            job.set("model.kv_heads", kv,
                    groups ? in.find("num_query_groups") : in.find("group_query_attention"));
    } else if (groups && *groups != heads) {
        job.note(*in.find("num_query_groups"),
                 "it applies only with --group-query-attention, which is absent");
    }
    const std::optional<std::int64_t> channels = in.whole("kv_channels", 1, kMost);
    head_dim = channels.value_or(heads > 0 ? hidden / heads : 0);
    if (channels && heads > 0 && *channels * heads != hidden && !in.is_on("multi_latent_attention"))
        job.set("model.head_dim", *channels, in.find("kv_channels"));
}

/// `plain`: the family has no biases and a head of its own.
void read_biases(Reading& job, bool plain) {
    Settings& in = job.in;
    const bool biases = in.flag("bias_linear").value_or(true);
    if (biases == plain) job.set("model.linear_bias", biases, in.find("bias_linear"));
    if (biases && in.is_on("multi_latent_attention")) {  // whose products have none but the last
        job.set("model.qkv_bias", false, in.find("multi_latent_attention"));
        job.set("model.output_bias", false, in.find("multi_latent_attention"));
    }
    if (in.is_on("add_qkv_bias") && !biases && !in.is_on("multi_latent_attention"))
        job.set("model.qkv_bias", true, in.find("add_qkv_bias"));
    const bool tied = !in.is_on("untie_embeddings_and_output_weights");
    if (tied == plain)
        job.set("model.tied_embedding", tied, in.find("untie_embeddings_and_output_weights"));
}

/// Whose checkpoints have names for all of the network's tensors: gpt2's pack queries, keys and
/// values, and only deepseek's have shared experts and latent attention.
std::string family_of(Reading& job, bool as_llama) {
    Settings& in = job.in;
    if (is_hybrid(job)) return hybrid_family(job);
    const bool experts = in.whole("num_experts", 0, 4096).value_or(0) > 0;
    if (in.is_on("moe_shared_expert_gate") || in.is_on("attention_output_gate") ||
        has_delta_nets(job))
        return "qwen3_next";
    if (in.is_on("multi_latent_attention") || in.has("moe_shared_expert_intermediate_size") ||
        (experts && in.flag("bias_linear").value_or(true)))
        return "deepseek";
    const bool grouped = in.is_on("group_query_attention") || in.has("num_query_groups");
    return as_llama || grouped || experts || in.is_on("qk_layernorm") || in.is_on("qk_l2_norm") ||
                   in.has("softmax_type") || in.is_on("use_sink_attention") ||
                   in.is_on("post_mlp_layernorm")
               ? "llama"
               : "gpt2";
}

/// Defaults of a family's keys.
struct FamilyDefaults {
    bool rms;
    std::string_view positions;
    std::string_view activation;
    bool plain;  ///< no biases, and a head of its own
};

FamilyDefaults defaults_of(std::string_view family) {
    if (family == "gpt2") return {false, "learned", "gelu_tanh", false};
    if (family == "nemotron_h") return {true, "none", "squared_relu", true};
    return {true, "rope", "swiglu", true};
}

/// Attention's norms of queries and keys, its gate, sinks and window.
void read_attention(Reading& job) {
    Settings& in = job.in;
    if (in.is_on("qk_l2_norm"))
        job.set("model.qk_norm", std::string("l2"), in.find("qk_l2_norm"));
    else if (in.is_on("qk_layernorm") && !in.is_on("multi_latent_attention"))
        job.set("model.qk_norm", std::string(has_wide_norms(job) ? "width" : "heads"),
                in.find(has_wide_norms(job) ? "spec" : "qk_layernorm"));
    read_norm_positions(job);
    if (in.is_on("attention_output_gate"))
        job.set("model.output_gate", true, in.find("attention_output_gate"));
    const std::string softmax = in.word("softmax_type").value_or("vanilla");
    if (softmax == "learnable") job.set("model.sinks", true, in.find("softmax_type"));
    if (in.is_on("use_sink_attention"))  // Primus
        job.set("model.sinks", true, in.find("use_sink_attention"));
    if (softmax.starts_with("off"))
        job.note(*in.find("softmax_type"), "a softmax with an additional zero score costs nothing",
                 Harm::Harmless);
    const std::optional<std::int64_t> window = megatron_window(job);
    if (window && !in.has("window_attn_skip_freq"))
        job.set("model.window", *window, in.find("window_size"));
}

/// The longest sample: that of the training where nothing says more.
void read_longest(Reading& job) {
    if (job.copy("model.max_positions", "max_position_embeddings") ||
        job.copy("model.max_positions", "seq_length"))
        return;
    if (const auto given = job.given_whole("training.seq_length"))
        job.set("model.max_positions", *given, nullptr, "the length of a sample");
}

/// The word of a scenario for Megatron-LM's --position-embedding-type.
std::string positions_of(std::string_view word) {
    if (word == "rope" || word == "yarn" || word == "mrope") return "rope";
    if (word == "none" || word == "alibi") return std::string(word);
    return "learned";
}

}  // namespace

void read_megatron_model(Reading& job) {
    Settings& in = job.in;
    for (const char* name : {"num_layers", "hidden_size", "num_attention_heads"})
        if (!in.has(name))
            job.ask(fmt::format("the job does not give {}; set it by --set model.{}=N, or the "
                                "whole model by --set model=NAME",
                                name,
                                name == std::string_view("num_layers")    ? "layers"
                                : name == std::string_view("hidden_size") ? "hidden"
                                                                          : "heads"),
                    {name});
    const bool rms = same_word(in.word("normalization").value_or("LayerNorm"), "RMSNorm");
    const std::string embedding = in.word("position_embedding_type").value_or("learned_absolute");
    const bool has_table = in.flag("position_embedding").value_or(true);
    const std::string positions =
        positions_of(has_table || embedding != "learned_absolute" ? embedding : "none");
    const std::string activation = activation_of(job);
    const std::string family = family_of(job, rms && positions == "rope" && activation == "swiglu");
    const FamilyDefaults defaults = defaults_of(family);
    const Setting* const activates =
        first_of(in, {"swiglu", "squared_relu", "quick_geglu", "activation_func"});
    job.set("model.family", family);
    job.copy("model.layers", "num_layers");
    const std::int64_t hidden = job.copy("model.hidden", "hidden_size").value_or(0);
    const std::int64_t heads = job.copy("model.heads", "num_attention_heads").value_or(0);
    std::int64_t head_dim = 0;
    read_heads(job, hidden, heads, head_dim);
    const bool experts = in.has("num_experts");
    if (const auto ffn = in.whole("ffn_hidden_size", 1, kMost)) {
        if (!experts || !in.has("moe_ffn_hidden_size"))
            job.set("model.ffn", *ffn, in.find("ffn_hidden_size"));
    } else if (activation == "swiglu" && hidden > 0 &&
               !(experts && in.has("moe_ffn_hidden_size"))) {
        job.set("model.ffn", hidden * 4 * 2 / 3 / 64 * 64, activates, "int(4 hidden 2/3 / 64) 64");
    }
    read_vocabulary(job);
    read_longest(job);
    if (rms != defaults.rms)
        job.set("model.norm", std::string(rms ? "rms_norm" : "layer_norm"),
                in.find("normalization"));
    if (positions != defaults.positions)
        job.set("model.positions", positions, in.find("position_embedding_type"));
    if (activation != defaults.activation) job.set("model.activation", activation, activates);
    read_biases(job, defaults.plain);
    if (const auto eps = in.real("norm_epsilon"); eps && (*eps != 1e-5 || defaults.plain))
        job.set_real("model.norm_eps", *eps, in.find("norm_epsilon"));
    read_rotary(job, positions, head_dim);
    read_attention(job);
    if (in.is_on("apply_layernorm_1p") || in.is_on("layernorm_zero_centered_gamma"))
        job.set("model.zero_centred_norms", true,
                first_of(in, {"apply_layernorm_1p", "layernorm_zero_centered_gamma"}));
    if (embedding == "mrope")
        job.note(*in.find("position_embedding_type"), "mrope is planned as rope", Harm::Harmless);
}

}  // namespace debubble::jobs
