#include "scenarios/jobs/nanotron/nanotron.h"

#include <algorithm>

#include <fmt/format.h>

#include "scenarios/jobs/megatron/network.h"

/// The networks of nanotron 2411b022: LlamaConfig, Qwen2Config and Starcoder2Config of
/// config/models_config.py, built by models/llama.py, qwen.py, starcoder2.py and nn/moe.py.
namespace debubble::jobs {
namespace {

using text::Node;

constexpr std::string_view kSilentInNetwork[] = {"bos_token_id",
                                                 "eos_token_id",
                                                 "pad_token_id",
                                                 "initializer_range",
                                                 "pretraining_tp",
                                                 "use_cache",
                                                 "rope_interleaved",
                                                 "rope_seq_len_interpolation_factor",
                                                 "log_attn_probs",
                                                 "ring_attn_heads_k_stride",
                                                 "_use_qkv_packed",
                                                 "_fused_rotary_emb",
                                                 "z_loss_enabled",
                                                 "z_loss_coefficient",
                                                 "attention_softmax_in_fp32",
                                                 "scale_attention_softmax_in_fp32",
                                                 "scale_attn_weights",
                                                 "use_position_embeddings",
                                                 "moe_config.router_aux_loss_coef",
                                                 "is_llama_config",
                                                 "is_qwen2_config",
                                                 "is_starcoder2_config"};

/// Which of nanotron's configurations the job has, by the key that says so.
enum class NanotronKind { Llama, Qwen2, Starcoder2 };

struct NanotronActivation {
    std::string_view word, gated, plain;
};
constexpr NanotronActivation kNanotronActivations[] = {
    {"silu", "swiglu", ""},
    {"swish", "swiglu", ""},
    {"gelu", "geglu", "gelu"},
    {"gelu_new", "geglu_tanh", "gelu_tanh"},
    {"gelu_pytorch_tanh", "geglu_tanh", "gelu_tanh"},
    {"relu", "", "relu"}};

class NetworkOfNanotron {
public:
    explicit NetworkOfNanotron(Reading& job) : job_(job), in_(job.in) {}

    NanotronNetwork read() {
        kind_ = kind();
        has_experts_ = has_section("moe_config.");
        read_sizes();
        read_heads_of_attention();
        read_words();
        read_layers_that_differ();
        if (has_experts_) read_experts_of_nanotron();
        return network_;
    }

private:
    const Setting* find(std::string_view name) { return in_.find(nanotron_model_key(name)); }
    std::optional<std::int64_t> whole(std::string_view name, std::int64_t most = kMost) {
        return in_.whole(nanotron_model_key(name), 1, most);
    }
    bool is_on(std::string_view name, bool otherwise = false) {
        return in_.flag(nanotron_model_key(name)).value_or(otherwise);
    }
    bool has_section(std::string_view name) const {
        const std::string start = nanotron_model_key(name);
        return std::ranges::any_of(in_.all(),
                                   [&](const Setting& one) { return one.name.starts_with(start); });
    }

    NanotronKind kind() {
        for (const Setting& one : in_.all()) {
            const std::string start = nanotron_model_key("is_");
            if (!one.name.starts_with(start) || !one.name.ends_with("_config")) continue;
            if (one.name == nanotron_model_key("is_llama_config")) return NanotronKind::Llama;
            if (one.name == nanotron_model_key("is_qwen2_config")) return NanotronKind::Qwen2;
            if (one.name == nanotron_model_key("is_starcoder2_config"))
                return NanotronKind::Starcoder2;
            job_.refuse_network(one,
                                "nanotron's own networks are llama, qwen2 and starcoder2; this one "
                                "is defined in Python with the job");
        }
        // dacite tries the configurations in this order, and a key of another one fails.
        if (in_.contains(nanotron_model_key("moe_config.num_experts")) ||
            in_.contains(nanotron_model_key("sliding_window_size")))
            return NanotronKind::Qwen2;
        return NanotronKind::Llama;
    }

    std::int64_t size(const char* key, std::string_view name, std::int64_t otherwise) {
        const auto value = whole(name);
        if (value)
            job_.set(key, *value, find(name));
        else
            job_.set(key, otherwise, nullptr, std::string(name) + ", nanotron's default");
        return value.value_or(otherwise);
    }

    void read_sizes() {
        const bool starcoder = kind_ == NanotronKind::Starcoder2;
        // Whose checkpoints have names for all of the tensors.
        job_.set("model.family", std::string(has_shared()   ? "qwen3_next"
                                             : has_experts_ ? "deepseek"
                                                            : "llama"));
        network_.layers = size("model.layers", "num_hidden_layers", starcoder ? 24 : 32);
        network_.hidden = size("model.hidden", "hidden_size", starcoder ? 2048 : 4096);
        heads_ = size("model.heads", "num_attention_heads", starcoder ? 16 : 32);
        if (in_.whole(nanotron_model_key("vocab_size"), -1, kMost) == -1)
            job_.ask("vocab_size is determined by the data; give it by --set model.vocab=N");
        else
            network_.vocab = size("model.vocab", "vocab_size", starcoder ? 49280 : 32000);
        const std::int64_t usual = starcoder ? 4 * network_.hidden : 11008;
        network_.ffn = size("model.ffn", "intermediate_size", usual);
        network_.products_of_mlp = starcoder ? 2 : 3;
        size("model.max_positions", "max_position_embeddings", starcoder ? 4096 : 2048);
    }

    void read_heads_of_attention() {
        const bool starcoder = kind_ == NanotronKind::Starcoder2;
        const char* const name = starcoder ? "num_kv_heads" : "num_key_value_heads";
        const auto kv = whole(name);
        if (starcoder && !is_on("grouped_query"))
            job_.set("model.kv_heads", std::int64_t{1}, find("multi_query"), "multi-query");
        else if (kv && *kv != heads_)
            job_.set("model.kv_heads", *kv, find(name));
        // Only Qwen2's reads the key (models/llama.py has no biases).
        if (kind_ == NanotronKind::Qwen2 && is_on("attention_bias"))
            job_.set("model.qkv_bias", true, find("attention_bias"));
        else if (kind_ == NanotronKind::Llama && is_on("attention_bias"))
            job_.note(*find("attention_bias"), "nanotron's llama does not read it", Harm::Harmless);
        if (heads_ > 0 && network_.hidden % heads_ != 0)
            job_.refuse(*find("hidden_size"),
                        fmt::format("{} heads do not divide {}", heads_, network_.hidden));
    }

    void read_words() {
        const bool starcoder = kind_ == NanotronKind::Starcoder2;
        const char* const name = starcoder ? "activation_function" : "hidden_act";
        const std::string word =
            in_.word(nanotron_model_key(name)).value_or(starcoder ? "gelu_pytorch_tanh" : "silu");
        const auto* const known =
            std::ranges::find(kNanotronActivations, word, &NanotronActivation::word);
        const std::string_view activation = known == std::end(kNanotronActivations) ? ""
                                            : starcoder                             ? known->plain
                                                                                    : known->gated;
        if (activation.empty())
            job_.refuse_network(*find(name),
                                fmt::format("the activation '{}' is not supported", word));
        else if (activation != "swiglu")
            job_.set("model.activation", std::string(activation), find(name));
        const char* const eps = starcoder ? "layer_norm_epsilon" : "rms_norm_eps";
        job_.set_real("model.norm_eps",
                      in_.real(nanotron_model_key(eps)).value_or(starcoder ? 1e-5 : 1e-6),
                      find(eps));
        if (const auto theta = in_.real(nanotron_model_key("rope_theta")); theta && *theta != 10000)
            job_.set_real("model.rope_theta", *theta, find("rope_theta"));
        if (starcoder) {
            job_.set("model.norm", std::string("layer_norm"));
            job_.set("model.linear_bias", true);
            if (!is_on("use_rotary_embeddings", true))
                job_.set("model.positions", std::string("none"), find("use_rotary_embeddings"));
            const double dropout = in_.real(nanotron_model_key("resid_pdrop")).value_or(0.1);
            job_.set_real("training.dropout", dropout, find("resid_pdrop"));
            for (const char* other : {"attn_pdrop", "embd_pdrop"})
                if (in_.real(nanotron_model_key(other)).value_or(0.1) != dropout)
                    job_.note(*find(other), "it is planned as resid_pdrop");
        }
        if (starcoder || is_on("tie_word_embeddings"))
            job_.set("model.tied_embedding", true, find("tie_word_embeddings"));
        bool scaled = false;
        for (const char* part : {"rope_type", "type", "factor", "low_freq_factor",
                                 "high_freq_factor", "original_max_position_embeddings"})
            scaled = find(std::string("rope_scaling.") + part) != nullptr || scaled;
        if (scaled) job_.note("RoPE is scaled, which does not affect the plan", Harm::Harmless);
    }

    /// Windows, layers without rotary positions, and layers without experts.
    void read_layers_that_differ() {
        const auto window = whole("sliding_window_size");
        const auto bare = whole("no_rope_layer");
        const std::vector<std::int64_t> global = numbers("global_attn_layers");
        const std::vector<std::int64_t> sparse = numbers("moe_config.layers");
        const bool all_sparse = sparse.empty() || sparse.front() == -1;
        LayerChanges changes(*network_.layers);
        for (std::int64_t i = 0; i < *network_.layers; ++i) {
            const bool unrotated = bare && (i + 1) % *bare == 0;
            const bool whole_text = unrotated || std::ranges::find(global, i) != global.end();
            if (unrotated) changes.add(i, "positions: none");
            if (window && !whole_text && (bare || !global.empty()))
                changes.add(i, fmt::format("window: {}", *window));
            if (has_experts_ && !all_sparse && std::ranges::find(sparse, i) == sparse.end())
                changes.add(i, fmt::format("experts: 0, shared_ffn: 0, ffn: {}", network_.ffn));
        }
        if (window && !bare && global.empty())
            job_.set("model.window", *window, find("sliding_window_size"));
        if (const std::string groups = changes.groups(); !groups.empty())
            job_.set("model.layer_groups", groups,
                     bare              ? find("no_rope_layer")
                     : !global.empty() ? find("global_attn_layers")
                                       : find("moe_config.layers"));
    }

    std::vector<std::int64_t> numbers(std::string_view name) {
        std::vector<std::int64_t> made;
        for (const std::string& word : in_.words(nanotron_model_key(name))) {
            const auto number = number_of(word);
            if (!number || *number != static_cast<double>(static_cast<std::int64_t>(*number)) ||
                *number < -1 || *number >= static_cast<double>(*network_.layers))
                job_.refuse(*find(name),
                            fmt::format("'{}' is not a layer of the {}", word, *network_.layers));
            else
                made.push_back(static_cast<std::int64_t>(*number));
        }
        return made;
    }

    bool has_shared() { return has_experts_ && is_on("moe_config.enable_shared_expert"); }

    void read_experts_of_nanotron() {
        const std::int64_t experts = whole("moe_config.num_experts", 4096).value_or(8);
        const std::int64_t chosen = whole("moe_config.top_k", 4096).value_or(2);
        if (chosen > experts)
            return job_.refuse(*find("moe_config.top_k"),
                               fmt::format("{} of {} experts cannot be chosen", chosen, experts));
        job_.set("model.experts", experts, find("moe_config.num_experts"));
        job_.set("model.experts_per_token", chosen, find("moe_config.top_k"));
        size("model.ffn", "moe_config.moe_intermediate_size", 1408);
        const auto shared = whole("moe_config.shared_expert_intermediate_size");
        if (has_shared()) {
            job_.set("model.shared_ffn", shared.value_or(5632),
                     find("moe_config.enable_shared_expert"));
            job_.set("model.shared_gate", true, find("moe_config.enable_shared_expert"));
        }
        // nn/moe.py: the softmax is over all experts, of fp32 weights.
        job_.set("model.router", std::string("pre_softmax"));
        job_.set("model.router_dtype", std::string("fp32"));
        const std::string dispatcher =
            in_.word(nanotron_model_key("moe_config.token_dispatcher_type")).value_or("alltoall");
        if (dispatcher != "alltoall" && dispatcher != "allgather")
            return job_.refuse(*find("moe_config.token_dispatcher_type"),
                               "nanotron supports the dispatchers alltoall and allgather");
        job_.set("framework.dispatcher", dispatcher, find("moe_config.token_dispatcher_type"));
    }

    Reading& job_;
    Settings& in_;
    NanotronKind kind_ = NanotronKind::Llama;
    bool has_experts_ = false;
    std::int64_t heads_ = 0;
    NanotronNetwork network_;
};

}  // namespace

std::string nanotron_model_key(std::string_view name) {
    return "model.model_config." + std::string(name);
}

NanotronNetwork read_nanotron_network(Reading& job) {
    return job.has_model() ? NanotronNetwork() : NetworkOfNanotron(job).read();
}

bool is_silent_in_nanotron_network(std::string_view name) {
    return std::ranges::find(kSilentInNetwork, name) != std::end(kSilentInNetwork);
}

}  // namespace debubble::jobs
