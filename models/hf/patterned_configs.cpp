#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Configurations of networks whose layers follow a pattern: Gemma's, gpt-oss' and Llama 4's.
/// Defaults are those of transformers' Gemma2Config, Gemma3TextConfig, GptOssConfig and
/// Llama4TextConfig.
namespace debubble::models {
namespace {

constexpr std::pair<std::string_view, Activation> kGelus[] = {
    {"gelu_pytorch_tanh", Activation::GegluTanh},
    {"gelu_new", Activation::GegluTanh},
    {"gelu", Activation::Geglu}};

/// A cap that the class has by default, and which a null takes away.
std::optional<double> read_cap(text::MappingReader& in, std::string_view key,
                               std::optional<double> usual) {
    double cap = usual.value_or(0);
    in.value(key);
    if (is_null(in, key)) return std::nullopt;
    if (in.real(key, cap, kLeastCap, kMostCap)) return cap;
    return usual;
}

/// The keys shared by all Gemmas, with the defaults of the smallest Gemma 2.
void read_gemmas(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    layer.head_dim = 256;
    layer.kv_heads = 4;
    layer.ffn = 9216;
    a.norm_eps = 1e-6;
    config.activations = kGelus;
    config.usual_activation = Activation::GegluTanh;
    config.activation_key = in.has("hidden_activation") ? "hidden_activation" : "hidden_act";
    config.usual_layers = 26;
    config.usual_hidden = 2304;
    config.usual_heads = 8;
    config.usual_head_dim = 256;
    read_llama_kind(in, config);
    a.tied_embedding = true;
    in.flag("tie_word_embeddings", a.tied_embedding);
    a.zero_centred_norms = a.scaled_embedding = true;
    layer.norm_position = NormPosition::Both;
    layer.query_pre_attn_scalar = 256;
    if (double scalar = 256; in.real("query_pre_attn_scalar", scalar, kLeastCap, kMostCap))
        layer.query_pre_attn_scalar = scalar;
    refuse_flag(in, "use_bidirectional_attention");
    read_biases(in, layer);
}

/// True where a layer is not the last of its group of `every`.
std::vector<bool> all_but_each(int layers, int every) {
    std::vector<bool> usual;
    for (int i = 0; i < layers; ++i) usual.push_back((i + 1) % every != 0);
    return usual;
}

}  // namespace

void turn_by_layer(text::MappingReader& in, Config& config, LayerKeys local) {
    std::vector<LayerKeys>& layers = layers_of(config);
    if (const text::NodePtr types = in.value("rope_parameters");
        types && types->get("full_attention")) {
        read_rope_of(types->get("full_attention"), "full_attention", in, config, config.layer);
        if (const text::NodePtr sliding = types->get("sliding_attention"))
            read_rope_of(sliding, "sliding_attention", in, config, local);
    }
    for (LayerKeys& layer : layers) {
        layer.rope_theta = layer.window ? local.rope_theta : config.layer.rope_theta;
        layer.rope_scaling = layer.window ? local.rope_scaling : config.layer.rope_scaling;
    }
}

void read_gemma(text::MappingReader& in, Config& config) {
    config.network.vocab = 256000;
    config.network.max_positions = 8192;
    read_gemmas(in, config);
    LayerKeys& layer = config.layer;
    layer.norm_position = NormPosition::Before;
    layer.query_pre_attn_scalar.reset();
    if (!in.has("num_key_value_heads")) layer.kv_heads = 16;
    if (!in.has("intermediate_size")) layer.ffn = 24576;
}

void read_gemma2(text::MappingReader& in, Config& config) {
    config.network.vocab = 256000;
    config.network.max_positions = 8192;
    read_gemmas(in, config);
    config.layer.score_softcap = read_cap(in, "attn_logit_softcapping", 50);
    config.network.logit_softcap = read_cap(in, "final_logit_softcapping", 30);
    std::int64_t window = 4096;
    in.whole("sliding_window", window, 1, kMostPositions);
    set_windows(in, config, window, all_but_each(config.layers, 2));
}

void read_gemma3(text::MappingReader& in, Config& config) {
    config.network.vocab = 262208;
    config.network.max_positions = 131072;
    config.layer.rope_theta = 1e6;
    read_gemmas(in, config);
    LayerKeys& layer = config.layer;
    layer.qk_norm = QkNorm::Heads;
    layer.score_softcap = read_cap(in, "attn_logit_softcapping", {});
    config.network.logit_softcap = read_cap(in, "final_logit_softcapping", {});
    std::int64_t window = 4096;
    in.whole("sliding_window", window, 1, kMostPositions);
    int every = 6;
    for (const std::string_view key : {"sliding_window_pattern", "_sliding_window_pattern"})
        in.whole(key, every, 1, kMostLayers);
    set_windows(in, config, window, all_but_each(config.layers, every));
    LayerKeys local;
    in.real("rope_local_base_freq", local.rope_theta, 1, 1e12);
    turn_by_layer(in, config, local);
}

void read_gpt_oss(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    demand_sizes(in);
    a.norm_eps = 1e-5;
    layer.kv_heads = 8;
    layer.ffn = 2880;
    layer.rope_theta = 150000;
    config.usual_head_dim = 64;
    read_llama_kind(in, config);
    a.family = Family::GptOss;
    layer.activation = Activation::ClampedSwiglu;
    for (const auto& [key, fixed] : {std::pair("swiglu_limit", kClampedSwigluLimit),
                                     std::pair("swiglu_alpha", kClampedSwigluSlope)})
        if (double value = fixed; in.real(key, value, 0, 1e6) && value != fixed)
            in.complain(key, fmt::format("gpt-oss's activation has {} as this value, not {}", fixed,
                                         value));
    layer.linear_bias = layer.router_bias = layer.sinks = true;
    bool biased = true;
    in.flag("attention_bias", biased);
    if (!biased) layer.qkv_bias = layer.output_bias = false;
    layer.experts = 128;
    layer.experts_per_token = 4;
    for (const std::string_view key : {"num_experts", "num_local_experts"})
        in.whole(key, layer.experts, 1, kMostExperts);
    for (const std::string_view key : {"experts_per_token", "num_experts_per_tok"})
        in.whole(key, layer.experts_per_token, 1, kMostExperts);
    std::int64_t window = 128;
    in.whole("sliding_window", window, 1, kMostPositions);
    set_windows(in, config, window, all_but_each(config.layers, 2));
}

namespace {

/// 1 for every layer that rotates, or an empty list for all but every fourth.
std::vector<bool> rotating_layers(text::MappingReader& in, const Config& config) {
    int every = 4;
    in.whole("no_rope_layer_interval", every, 1, kMostLayers);
    std::vector<int> listed;
    in.wholes("no_rope_layers", listed, 0, 1);
    if (listed.empty()) return all_but_each(config.layers, every);
    if (std::ssize(listed) != config.layers)
        in.complain("no_rope_layers", fmt::format("{} numbers are given for {} layers",
                                                  listed.size(), config.layers));
    listed.resize(config.layers, 1);
    return {listed.begin(), listed.end()};
}

/// Redundant list of chunked layers; rejected if it disagrees.
void check_chunked(text::MappingReader& in, const std::vector<bool>& rotates) {
    std::vector<std::string> types;
    if (!in.texts("layer_types", types)) return;
    for (std::size_t i = 0; i < std::min(types.size(), rotates.size()); ++i)
        if (types[i] != (rotates[i] ? "chunked_attention" : "full_attention"))
            return in.complain("layer_types",
                               fmt::format("layer {} has the type '{}', but layers attend in "
                                           "chunks exactly where they have rotary positions",
                                           i, types[i]));
}

/// True for layers with experts: those listed, or every `interleave_moe_layer_step`th.
std::vector<bool> mixing_layers(text::MappingReader& in, const Config& config) {
    std::vector<bool> mixes(config.layers);
    int step = 1;
    in.whole("interleave_moe_layer_step", step, 0, kMostLayers);
    std::vector<int> listed;
    if (in.wholes("moe_layers", listed, 0, kMostLayers)) {
        for (const int layer : listed)
            if (layer < config.layers) mixes[layer] = true;
        return mixes;
    }
    for (int i = step - 1; step > 0 && i < config.layers; i += step) mixes[i] = true;
    return mixes;
}

/// Older files say 4 where newer ones say true.
std::optional<QueryTemperature> read_temperature(text::MappingReader& in) {
    QueryTemperature growth;
    in.real("floor_scale", growth.floor, 1, 1e9);
    in.real("attn_scale", growth.scale, 0, 1e6);
    const text::NodePtr tuned = in.value("attn_temperature_tuning");
    if (tuned && (tuned->scalar == "false" || tuned->scalar == "0")) return std::nullopt;
    return growth;
}

}  // namespace

void read_llama4(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.vocab = 202048;
    a.max_positions = 131072;
    a.norm_eps = 1e-5;
    layer.kv_heads = 8;
    layer.ffn = 8192;
    layer.rope_theta = 500000;
    config.usual_layers = 48;
    config.usual_hidden = 5120;
    config.usual_heads = 40;
    config.usual_head_dim = 128;
    read_llama_kind(in, config);
    a.family = Family::Llama4;
    read_biases(in, layer);
    layer.experts = 16;
    in.whole("num_local_experts", layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    layer.shared_ffn = layer.ffn;
    layer.router = Router::Sigmoid;
    layer.router_renormalises = false;
    layer.weighs_experts_input = true;
    config.dense_ffn = 16384;
    in.whole("intermediate_size_mlp", config.dense_ffn, 1, kWidestMlp);
    std::int64_t chunk = 8192;
    in.whole("attention_chunk_size", chunk, 1, kMostPositions);
    bool normed = true;
    in.flag("use_qk_norm", normed);
    const std::vector<bool> rotates = rotating_layers(in, config);
    check_chunked(in, rotates);
    const std::vector<bool> mixes = mixing_layers(in, config);
    const std::optional<QueryTemperature> temperature = read_temperature(in);
    const RopeScaling* scaling = layer.rope_scaling ? &*layer.rope_scaling : nullptr;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        LayerKeys& one = layers[i];
        one.rotary = rotates[i];
        one.rope_scaling = rotates[i] && scaling ? std::optional(*scaling) : std::nullopt;
        if (rotates[i] && normed) one.qk_norm = QkNorm::L2;
        if (rotates[i] && chunk < a.max_positions) one.chunk = chunk;
        if (!rotates[i]) one.temperature = temperature;
        if (!mixes[i]) without_experts(one, config);
    }
}

}  // namespace debubble::models
