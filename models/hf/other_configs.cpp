#include <cmath>

#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Configurations with words of their own. Defaults are those of transformers' GPTNeoXConfig,
/// MptConfig, NemotronConfig, Phi3Config and Olmo2Config.
namespace debubble::models {
namespace {

constexpr std::pair<std::string_view, Activation> kPlainActivations[] = {
    {"gelu", Activation::Gelu},         {"gelu_fast", Activation::GeluTanh},
    {"gelu_new", Activation::GeluTanh}, {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"relu", Activation::Relu},         {"relu2", Activation::SquaredRelu},
};

}  // namespace

void read_gpt_neox(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.vocab = 50432;
    a.max_positions = 2048;
    layer.kv_heads = 0;
    layer.ffn = 24576;
    config.usual_layers = 44;
    config.usual_hidden = 6144;
    config.usual_heads = 64;
    config.usual_activation = Activation::Gelu;
    config.activations = kPlainActivations;
    in.real("rotary_emb_base", layer.rope_theta, 1, 1e12);
    read_llama_kind(in, config);
    a.family = Family::GptNeox;
    a.norm = Norm::LayerNorm;
    a.norm_eps = 1e-5;
    in.real("layer_norm_eps", a.norm_eps, 0, 1);
    in.real("hidden_dropout", a.dropout, 0, 0.999);
    read_rotary_share(in, config, "rotary_pct", 0.25);
    layer.parallel_residual = true;
    in.flag("use_parallel_residual", layer.parallel_residual);
    layer.linear_bias = true;
    bool biased = true;
    in.flag("attention_bias", biased);
    if (!biased) layer.qkv_bias = layer.output_bias = false;
}

void read_mpt(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.family = Family::Mpt;
    a.vocab = 50368;
    a.max_positions = 2048;
    a.hidden = 2048;
    a.learned_positions = false;
    config.layers = 24;
    layer.heads = 16;
    layer.activation = Activation::Gelu;
    double expansion = 4;
    bool unbiased = true;
    in.whole("n_layers", config.layers, 1, kMostLayers);
    in.whole("d_model", a.hidden, 1, kWidest);
    in.whole("n_heads", layer.heads, 1, kMostHeads);
    in.whole("vocab_size", a.vocab, 1, kLargestVocabulary);
    in.whole("max_seq_len", a.max_positions, 1, kMostPositions);
    in.real("expansion_ratio", expansion, 1, 64);
    in.flag("no_bias", unbiased);
    in.real("layer_norm_epsilon", a.norm_eps, 0, 1);
    in.flag("tie_word_embeddings", a.tied_embedding);
    refuse_given(in, "logit_scale", "scaled logits are not supported");
    // Kept from llm-foundry; transformers' class reads none of them.
    for (const char* key : {"embedding_fraction", "learned_pos_emb", "norm_type"}) in.value(key);
    layer.kv_heads = layer.heads;
    layer.ffn = static_cast<std::int64_t>(std::llround(expansion * static_cast<double>(a.hidden)));
    cut_heads(in, config, "n_heads");
    layer.linear_bias = a.norm_bias = !unbiased;
    layer.alibi = true;
    if (const text::NodePtr map = in.value("attn_config")) {
        text::MappingReader attention(map, "attn_config", in.mistakes());
        attention.flag("alibi", layer.alibi);
        refuse_flag(attention, "qk_ln");
        refuse_flag(attention, "prefix_lm");
        for (const std::string_view key : {"clip_qkv", "softmax_scale"})
            refuse_given(attention, key, fmt::format("attention with '{}' is not supported", key));
        if (double most = 8; attention.real("alibi_bias_max", most, 0, 1e6) && most != 8)
            attention.complain(
                "alibi_bias_max",
                fmt::format("a maximum ALiBi bias of {} is not supported: it must be 8", most));
        if (const text::NodePtr type = attention.value("attn_type");
            type && type->scalar != "multihead_attention")
            attention.complain(
                "attn_type",
                fmt::format(
                    "'{}' is not supported for an mpt, which has as many key-value heads as heads",
                    type->scalar));
        for (const char* key : {"attn_impl", "attn_uses_sequence_id"}) attention.value(key);
        note_unread(attention, "attn_config", config.notes);
    }
    a.learned_positions = !layer.alibi;
}

void read_nemotron(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.vocab = 256000;
    a.max_positions = 4096;
    layer.kv_heads = 0;
    layer.ffn = 24576;
    config.usual_hidden = 6144;
    config.usual_heads = 48;
    config.usual_activation = Activation::SquaredRelu;
    config.activations = kPlainActivations;
    read_llama_kind(in, config);
    a.norm = Norm::LayerNorm;
    a.zero_centred_norms = true;
    a.norm_eps = 1e-5;
    in.real("norm_eps", a.norm_eps, 0, 1);
    read_rotary_share(in, config, "partial_rotary_factor", 0.5);
    read_biases(in, layer);
}

void read_phi3(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.vocab = 32064;
    a.max_positions = 4096;
    a.norm_eps = 1e-5;
    layer.kv_heads = 0;
    layer.ffn = 8192;
    config.usual_hidden = 3072;
    std::int64_t original = 4096;
    in.whole("original_max_position_embeddings", original, 1, kMostPositions);
    config.original_positions = original;
    read_llama_kind(in, config);
    a.family = Family::Phi3;
    read_rotary_share(in, config, "partial_rotary_factor", 1);
    in.real("resid_pdrop", a.dropout, 0, 0.999);
    std::int64_t window = 0;
    if (in.whole("sliding_window", window, 1, kMostPositions) && window < a.max_positions)
        layer.window = window;
}

void read_olmo2(text::MappingReader& in, Config& config) {
    config.network.vocab = 50304;
    config.network.max_positions = 2048;
    config.network.norm_eps = 1e-5;
    config.layer.kv_heads = 0;
    config.layer.ffn = 11008;
    read_llama_kind(in, config);
    config.layer.norm_position = NormPosition::After;
    config.layer.qk_norm = QkNorm::Width;
    read_biases(in, config.layer);
}

}  // namespace debubble::models
