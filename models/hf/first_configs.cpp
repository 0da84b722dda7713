#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Configurations of the first networks: GPT-2's, Llama's, Mixtral's and ViT's. Defaults are those
/// of transformers' GPT2Config, LlamaConfig, MixtralConfig and ViTConfig, which write only what
/// differs.
namespace debubble::models {
namespace {

constexpr std::pair<std::string_view, Activation> kUngated[] = {
    {"gelu_new", Activation::GeluTanh},
    {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"gelu", Activation::Gelu},
    {"relu", Activation::Relu}};

}  // namespace

void read_gpt2(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.family = Family::Gpt2;
    config.layers = 12;
    a.hidden = 768;
    layer.heads = 12;
    a.vocab = 50257;
    a.max_positions = 1024;
    a.dropout = 0.1;
    in.whole("n_layer", config.layers, 1, kMostLayers);
    in.whole("n_embd", a.hidden, 1, kWidest);
    in.whole("n_head", layer.heads, 1, kMostHeads);
    in.whole("vocab_size", a.vocab, 1, kLargestVocabulary);
    in.whole("n_positions", a.max_positions, 1, kMostPositions);
    layer.kv_heads = layer.heads;
    cut_heads(in, config, "n_head");
    layer.ffn = 4 * a.hidden;
    in.whole("n_inner", layer.ffn, 1, kWidestMlp);
    in.word("activation_function", layer.activation, kUngated);
    in.real("layer_norm_epsilon", a.norm_eps, 0, 1);
    in.real("resid_pdrop", a.dropout, 0, 0.999);
    refuse_flag(in, "scale_attn_by_inverse_layer_idx");
    bool scaled = true;
    if (in.flag("scale_attn_weights", scaled) && !scaled)
        in.complain("scale_attn_weights", "attention scores without scaling are not supported");
    in.flag("tie_word_embeddings", a.tied_embedding);
}

void read_llama(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.vocab = 32000;
    a.max_positions = 2048;
    layer.ffn = 11008;
    a.norm_eps = 1e-6;
    layer.kv_heads = 0;  // 0 means as many as heads
    read_llama_kind(in, config);
    read_biases(in, layer);
}

void read_mixtral(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.vocab = 32000;
    a.max_positions = 131072;
    layer.ffn = 14336;
    a.norm_eps = 1e-5;
    layer.rope_theta = 1e6;
    layer.kv_heads = 8;
    layer.experts = 8;
    layer.experts_per_token = 2;
    read_llama_kind(in, config);
    in.whole("num_local_experts", layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    std::int64_t window = 0;
    if (in.whole("sliding_window", window, 1, kMostPositions) && window < a.max_positions)
        layer.window = window;
}

namespace {

/// Classes of the head: transformers derives num_labels from id2label.
void read_labels(text::MappingReader& in, Architecture& a) {
    a.vocab = 2;
    if (const text::NodePtr labels = in.value("id2label"); labels && !labels->entries.empty())
        a.vocab = static_cast<std::int64_t>(labels->entries.size());
    in.whole("num_labels", a.vocab, 1, kLargestVocabulary);
}

}  // namespace

void read_vit(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.family = Family::Vit;
    a.causal = false;
    a.tied_embedding = false;
    layer.activation = Activation::Gelu;
    config.layers = 12;
    a.hidden = 768;
    layer.heads = 12;
    layer.ffn = 3072;
    a.norm_eps = 1e-12;
    std::int64_t image = 224;
    std::int64_t patch = 16;
    std::int64_t channels = 3;
    in.whole("num_hidden_layers", config.layers, 1, kMostLayers);
    in.whole("hidden_size", a.hidden, 1, kWidest);
    in.whole("num_attention_heads", layer.heads, 1, kMostHeads);
    in.whole("intermediate_size", layer.ffn, 1, kWidestMlp);
    in.whole("image_size", image, 1, kLargestImage);
    in.whole("patch_size", patch, 1, kLargestImage);
    in.whole("num_channels", channels, 1, kLargestImage);
    a.image_size = image;
    a.patch_size = patch;
    a.channels = channels;
    a.max_positions = vit_positions(a);
    layer.kv_heads = layer.heads;
    cut_heads(in, config, "num_attention_heads");
    read_labels(in, a);
    in.word("hidden_act", layer.activation, kUngated);
    in.real("layer_norm_eps", a.norm_eps, 0, 1);
    in.real("hidden_dropout_prob", a.dropout, 0, 0.999);
    bool qkv_bias = true;
    if (in.flag("qkv_bias", qkv_bias) && !qkv_bias)
        in.complain("qkv_bias", "a ViT without biases on q, k and v is not supported");
}

}  // namespace debubble::models
