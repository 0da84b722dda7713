#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Configurations of dense networks that differ from Llama's in names, in where norms and biases
/// stand, or in which layers have positions. Defaults are those of transformers' classes, as far as
/// published files leave keys out. Where weights are stored or rotated in another way than the
/// executor's, the network is of the family 'planned'.
namespace debubble::models {
namespace {

constexpr std::pair<std::string_view, Activation> kSquared[] = {{"relu2", Activation::SquaredRelu}};

/// The keys shared by Llama and later networks, with a head dimension that need not divide the
/// hidden size.
void read_sizes(text::MappingReader& in, Config& config, std::int64_t ffn, std::int64_t kv_heads,
                double norm_eps) {
    demand_sizes(in);
    config.layer.ffn = ffn;
    config.layer.kv_heads = kv_heads;
    config.network.norm_eps = norm_eps;
    read_llama_kind(in, config);
}

/// 1 for each layer that rotates; without a list all but every so many.
void read_rotating_layers(text::MappingReader& in, Config& config) {
    int every = 4;
    in.whole("no_rope_layer_interval", every, 1, kMostLayers);
    std::vector<std::string> rotates;
    if (!read_of_layers(in, config, "no_rope_layers", rotates))
        for (int i = 0; i < config.layers; ++i)
            rotates.emplace_back((i + 1) % every != 0 ? "1" : "0");
    if (!in.good()) return;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        layers[i].rotary = rotates[i] != "0";
        if (!layers[i].rotary) layers[i].rope_scaling.reset();
    }
}

/// True where a layer is not the last of its group of `every`.
std::vector<bool> all_but(int layers, int every) {
    std::vector<bool> usual;
    for (int i = 0; i < layers; ++i) usual.push_back((i + 1) % every != 0);
    return usual;
}

void read_factors(text::MappingReader& in) {
    // Factors of embeddings, scores, branches and logits, on which no figure of a plan depends.
    for (const char* key :
         {"embedding_multiplier", "attention_multiplier", "residual_multiplier", "logits_scaling"})
        in.value(key);
}

}  // namespace

void read_mimo(text::MappingReader& in, Config& config) {
    read_qwen2(in, config);
    bool biased = true;
    in.flag("attention_bias", biased);
    config.layer.qkv_bias = biased;
    for (LayerKeys& layer : config.each) layer.qkv_bias = biased;
}

void read_seed_oss(text::MappingReader& in, Config& config) {
    config.usual_head_dim = 128;
    read_sizes(in, config, 27648, 8, 1e-6);
    LayerKeys& layer = config.layer;
    bool biased = true;
    bool out_biased = false;
    in.flag("attention_bias", biased);
    in.flag("attention_out_bias", out_biased);
    in.flag("mlp_bias", layer.linear_bias);
    layer.qkv_bias = biased;
    layer.output_bias = out_biased;
    in.real("residual_dropout", config.network.dropout, 0, 0.999);
}

void read_smollm3(text::MappingReader& in, Config& config) {
    read_sizes(in, config, 11008, 4, 1e-6);
    if (!in.has("tie_word_embeddings")) config.network.tied_embedding = true;
    if (!in.has("rope_theta") && !in.has("rope_parameters")) config.layer.rope_theta = 2e6;
    read_biases(in, config.layer);
    read_optional_window(in, config);
    read_rotating_layers(in, config);
}

void read_internlm3(text::MappingReader& in, Config& config) {
    read_sizes(in, config, 11008, 0, 1e-6);
    LayerKeys& layer = config.layer;
    bool biased = false;
    bool qkv_biased = false;
    in.flag("bias", biased);
    in.flag("qkv_bias", qkv_biased);
    layer.linear_bias = biased;
    layer.output_bias = biased;
    layer.qkv_bias = qkv_biased;
}

/// Scaled angles are those of its layers without a window.
void read_olmo3(text::MappingReader& in, Config& config) {
    read_olmo2(in, config);
    std::int64_t window = 4096;
    in.whole("sliding_window", window, 1, kMostPositions);
    set_windows(in, config, window, all_but(config.layers, 4));
    turn_by_layer(in, config, LayerKeys{.rope_theta = config.layer.rope_theta});
}

/// Neighbouring columns are rotated together.
void read_ernie4_5(text::MappingReader& in, Config& config) {
    const text::NodePtr type = in.mapping()->get("model_type");
    if (!type || !type->scalar.starts_with("ernie4_5_moe")) config.usual_head_dim = 128;
    if (!in.has("rope_theta") && !in.has("rope_parameters")) config.layer.rope_theta = 5e5;
    read_sizes(in, config, 3072, 2, 1e-5);
    if (!in.has("tie_word_embeddings")) config.network.tied_embedding = true;
    in.flag("use_bias", config.layer.linear_bias);
    config.network.family = Family::Planned;
}

/// Queries and keys are normed after they are rotated.
void read_hunyuan_dense(text::MappingReader& in, Config& config) {
    read_sizes(in, config, 11008, 0, 1e-5);
    if (!in.has("head_dim")) in.whole("attention_head_dim", config.layer.head_dim, 1, kWidest);
    bool normed = true;
    in.flag("use_qk_norm", normed);
    if (normed) config.layer.qk_norm = QkNorm::Heads;
    read_biases(in, config.layer);
    config.network.family = Family::Planned;
}

void read_glm(text::MappingReader& in, Config& config) {
    config.usual_head_dim = 128;
    read_sizes(in, config, 13696, 2, 1.5625e-7);
    config.network.family = Family::Planned;
    read_rotary_share(in, config, "partial_rotary_factor", 0.5);
    bool biased = true;
    in.flag("attention_bias", biased);
    config.layer.qkv_bias = biased;
    config.layer.output_bias = false;
}

void read_glm4(text::MappingReader& in, Config& config) {
    read_glm(in, config);
    if (!in.has("attention_bias")) config.layer.qkv_bias = false;
    config.layer.norm_position = NormPosition::Both;
}

/// Layers without a window have no positions.
void read_exaone4(text::MappingReader& in, Config& config) {
    read_sizes(in, config, 16384, 32, 1e-5);
    LayerKeys& layer = config.layer;
    config.network.family = Family::Planned;
    layer.norm_position = NormPosition::After;
    layer.qk_norm = QkNorm::Heads;
    std::int64_t window = 0;
    const bool has_windows = in.whole("sliding_window", window, 1, kMostPositions);
    int every = 0;
    const text::NodePtr pattern = in.value("sliding_window_pattern");
    if (pattern && pattern->scalar.find_first_not_of("LG") == std::string::npos)
        every = static_cast<int>(pattern->scalar.size());
    else if (pattern)
        in.whole("sliding_window_pattern", every, 1, kMostLayers);
    in.value("layer_types");
    if (!has_windows) return;
    set_windows(in, config, window, all_but(config.layers, every > 0 ? every : config.layers + 1));
    for (LayerKeys& one : layers_of(config)) one.rotary = one.window.has_value();
}

void read_arcee(text::MappingReader& in, Config& config) {
    config.usual_activation = Activation::SquaredRelu;
    config.activations = kSquared;
    read_sizes(in, config, 18432, 0, 1e-5);
    read_biases(in, config.layer);
    config.network.family = Family::Planned;
}

void read_granite(text::MappingReader& in, Config& config) {
    config.network.vocab = 32000;
    config.network.max_positions = 2048;
    config.network.norm_eps = 1e-6;
    config.layer.ffn = 11008;
    config.layer.kv_heads = 0;
    read_factors(in);
    read_llama_kind(in, config);
    read_biases(in, config.layer);
    config.network.family = Family::Planned;
}

}  // namespace debubble::models
