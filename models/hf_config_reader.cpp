#include "models/hf_config_reader.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "models/architecture_check.h"
#include "models/architecture_limits.h"
#include "text/mapping_reader.h"

/// Defaults are those of transformers' GPT2Config, LlamaConfig, MixtralConfig and ViTConfig,
/// which write only what differs.
namespace debubble::models {
namespace {

enum class Type : std::uint8_t { Gpt2, Llama, Mixtral, Vit };
constexpr std::pair<std::string_view, Type> kTypes[] = {
    {"gpt2", Type::Gpt2}, {"llama", Type::Llama}, {"mixtral", Type::Mixtral}, {"vit", Type::Vit}};
constexpr std::pair<std::string_view, Activation> kActivations[] = {
    {"gelu_new", Activation::GeluTanh},
    {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"gelu", Activation::Gelu},
    {"relu", Activation::Relu}};
constexpr std::pair<std::string_view, Activation> kGated[] = {{"silu", Activation::Swiglu},
                                                              {"swish", Activation::Swiglu}};

/// Both the number of heads and the width are given; head_dim is the width of one head.
void cut_heads(text::MappingReader& in, Architecture& a, std::string_view heads_key) {
    a.head_dim = std::max<std::int64_t>(1, a.hidden / a.heads);
    if (a.hidden % a.heads != 0)
        in.complain(heads_key,
                    fmt::format("{} heads do not divide the width of {}", a.heads, a.hidden));
}

void refuse_flag(text::MappingReader& in, std::string_view key) {
    bool set = false;
    if (in.flag(key, set) && set)
        in.complain(key, fmt::format("networks with '{}' are not supported", key));
}

void read_gpt2(text::MappingReader& in, Architecture& a) {
    a.family = Family::Gpt2;
    a.layers = 12;
    a.hidden = 768;
    a.heads = 12;
    a.vocab = 50257;
    a.max_positions = 1024;
    a.dropout = 0.1;
    in.whole("n_layer", a.layers, 1, kMostLayers);
    in.whole("n_embd", a.hidden, 1, kWidest);
    in.whole("n_head", a.heads, 1, kMostHeads);
    in.whole("vocab_size", a.vocab, 1, kLargestVocabulary);
    in.whole("n_positions", a.max_positions, 1, kMostPositions);
    a.kv_heads = a.heads;
    cut_heads(in, a, "n_head");
    a.ffn = 4 * a.hidden;
    in.whole("n_inner", a.ffn, 1, kWidestMlp);
    in.word("activation_function", a.activation, kActivations);
    in.real("layer_norm_epsilon", a.norm_eps, 0, 1);
    in.real("resid_pdrop", a.dropout, 0, 0.999);
    refuse_flag(in, "scale_attn_by_inverse_layer_idx");
    bool scaled = true;
    if (in.flag("scale_attn_weights", scaled) && !scaled)
        in.complain("scale_attn_weights", "attention scores without scaling are not supported");
    in.flag("tie_word_embeddings", a.tied_embedding);
}

/// Since transformers 5 the base of the angles is in a map of its own.
void read_rope(text::MappingReader& in, Architecture& a) {
    in.real("rope_theta", a.rope_theta, 1, 1e12);
    if (in.value("rope_scaling"))
        in.complain("rope_scaling",
                    "scaled rotary positions are not supported; null is plain RoPE");
    const text::NodePtr map = in.value("rope_parameters");
    if (!map) return;
    text::MappingReader rope(map, "rope_parameters", in.mistakes());
    std::string type = "default";
    rope.real("rope_theta", a.rope_theta, 1, 1e12);
    if (rope.text("rope_type", type) && type != "default")
        rope.complain(
            "rope_type",
            fmt::format("rotary positions of type '{}' are not supported; 'default' is plain RoPE",
                        type));
}

/// Reads the keys that Llama and Mixtral share; `a` holds the defaults of their sizes.
void read_llama_kind(text::MappingReader& in, Architecture& a) {
    a.family = Family::Llama;
    a.norm = Norm::RmsNorm;
    a.activation = Activation::Swiglu;
    a.positions = Positions::Rope;
    a.linear_bias = false;
    a.tied_embedding = false;
    a.layers = 32;
    a.hidden = 4096;
    a.heads = 32;
    a.vocab = 32000;
    in.whole("num_hidden_layers", a.layers, 1, kMostLayers);
    in.whole("hidden_size", a.hidden, 1, kWidest);
    in.whole("num_attention_heads", a.heads, 1, kMostHeads);
    in.whole("vocab_size", a.vocab, 1, kLargestVocabulary);
    in.whole("max_position_embeddings", a.max_positions, 1, kMostPositions);
    in.whole("intermediate_size", a.ffn, 1, kWidestMlp);
    if (a.kv_heads == 0) a.kv_heads = a.heads;
    in.whole("num_key_value_heads", a.kv_heads, 1, kMostHeads);
    if (!in.whole("head_dim", a.head_dim, 1, kWidest)) cut_heads(in, a, "num_attention_heads");
    in.word("hidden_act", a.activation, kGated);
    in.real("rms_norm_eps", a.norm_eps, 0, 1);
    read_rope(in, a);
    in.flag("tie_word_embeddings", a.tied_embedding);
}

void read_llama(text::MappingReader& in, Architecture& a) {
    a.max_positions = 2048;
    a.ffn = 11008;
    a.norm_eps = 1e-6;
    a.kv_heads = 0;  // 0 means as many as heads
    read_llama_kind(in, a);
    refuse_flag(in, "attention_bias");
    refuse_flag(in, "mlp_bias");
}

void read_mixtral(text::MappingReader& in, Architecture& a) {
    a.max_positions = 131072;
    a.ffn = 14336;
    a.norm_eps = 1e-5;
    a.rope_theta = 1e6;
    a.kv_heads = 8;
    a.experts = 8;
    a.experts_per_token = 2;
    read_llama_kind(in, a);
    in.whole("num_local_experts", a.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", a.experts_per_token, 1, kMostExperts);
    std::int64_t window = a.max_positions;
    if (in.whole("sliding_window", window, 1, kMostPositions) && window < a.max_positions)
        in.complain(
            "sliding_window",
            fmt::format(
                "attention to the last {} of {} tokens is not supported; null attends to all",
                window, a.max_positions));
}

/// Classes of the head: transformers derives num_labels from id2label.
void read_labels(text::MappingReader& in, Architecture& a) {
    a.vocab = 2;
    if (const text::NodePtr labels = in.value("id2label"); labels && !labels->entries.empty())
        a.vocab = static_cast<std::int64_t>(labels->entries.size());
    in.whole("num_labels", a.vocab, 1, kLargestVocabulary);
}

void read_vit(text::MappingReader& in, Architecture& a) {
    a.family = Family::Vit;
    a.causal = false;
    a.tied_embedding = false;
    a.activation = Activation::Gelu;
    a.layers = 12;
    a.hidden = 768;
    a.heads = 12;
    a.ffn = 3072;
    a.norm_eps = 1e-12;
    std::int64_t image = 224;
    std::int64_t patch = 16;
    std::int64_t channels = 3;
    in.whole("num_hidden_layers", a.layers, 1, kMostLayers);
    in.whole("hidden_size", a.hidden, 1, kWidest);
    in.whole("num_attention_heads", a.heads, 1, kMostHeads);
    in.whole("intermediate_size", a.ffn, 1, kWidestMlp);
    in.whole("image_size", image, 1, kLargestImage);
    in.whole("patch_size", patch, 1, kLargestImage);
    in.whole("num_channels", channels, 1, kLargestImage);
    a.image_size = image;
    a.patch_size = patch;
    a.channels = channels;
    a.max_positions = vit_positions(a);
    a.kv_heads = a.heads;
    cut_heads(in, a, "num_attention_heads");
    read_labels(in, a);
    in.word("hidden_act", a.activation, kActivations);
    in.real("layer_norm_eps", a.norm_eps, 0, 1);
    in.real("hidden_dropout_prob", a.dropout, 0, 0.999);
    bool qkv_bias = true;
    if (in.flag("qkv_bias", qkv_bias) && !qkv_bias)
        in.complain("qkv_bias", "a ViT without biases on q, k and v is not supported");
}

}  // namespace

bool is_hf_config(const text::Node& map) {
    return map.find("model_type") != nullptr && map.find("family") == nullptr;
}

Architecture read_hf_config(const text::NodePtr& map, text::Mistakes& mistakes) {
    text::MappingReader in(map, "config", mistakes);
    Architecture a;
    a.name = "config";
    in.text("_name_or_path", a.name);
    if (a.name.empty()) a.name = "config";
    a.source = map->place.source ? map->place.source->file : "config.json";
    Type type{};
    if (!in.word("model_type", type, kTypes)) return a;
    switch (type) {
        case Type::Gpt2: read_gpt2(in, a); break;
        case Type::Llama: read_llama(in, a); break;
        case Type::Mixtral: read_mixtral(in, a); break;
        case Type::Vit: read_vit(in, a); break;
    }
    if (in.good()) check_architecture(a, in);
    return a;
}

}  // namespace debubble::models
