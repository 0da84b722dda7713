#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Configurations whose layers differ in the sizes of their attention: MiMo-V2's, Step 3.7's,
/// Gemma 4's, and those that a search left (Nemotron NAS). They are planned alone.
namespace debubble::models {
namespace {

/// The layers of which a list says one of the words; mistakes are about its key.
std::vector<bool> layers_with(text::MappingReader& in, const Config& config, std::string_view key,
                              std::string_view word, std::string_view other) {
    std::vector<std::string> words;
    std::vector<bool> found(config.layers);
    if (!read_of_layers(in, config, key, words)) return found;
    for (std::size_t i = 0; i < words.size(); ++i) {
        found[i] = words[i] == word;
        if (!found[i] && words[i] != other)
            in.complain(key,
                        fmt::format("a layer must be {} or {}, not '{}'", word, other, words[i]));
    }
    return found;
}

}  // namespace

void read_mimo_v2(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    LayerKeys& layer = config.layer;
    layer.ffn = 16384;
    layer.kv_heads = 4;
    config.usual_head_dim = 192;
    config.network.norm_eps = 1e-5;
    read_llama_kind(in, config);
    config.network.family = Family::Planned;
    in.real("layernorm_epsilon", config.network.norm_eps, 0, 1);
    std::int64_t width = 1;
    if (in.whole("v_head_dim", width, 1, kWidest)) layer.value_dim = width;
    refuse_flag(in, "attention_bias");
    in.value("attention_value_scale");  // a factor of all values
    read_rotary_share(in, config, "partial_rotary_factor", 1);
    bool sinks = false;
    in.flag("add_full_attention_sink_bias", sinks);
    read_experts(in, config, "n_routed_experts");
    read_sigmoid_router(in, config);
    read_shared_and_dense(in, config);
    LayerKeys local = layer;
    layer.sinks = sinks;
    std::int64_t window = 128;
    bool local_sinks = false;
    for (const std::string_view key : {"sliding_window_size", "sliding_window"})
        in.whole(key, window, 1, kMostPositions);
    in.value("attention_chunk_size");  // of a kernel that makes the window of chunks
    in.flag("add_swa_attention_sink_bias", local_sinks);
    in.whole("swa_num_attention_heads", local.heads, 1, kMostHeads);
    in.whole("swa_num_key_value_heads", local.kv_heads, 1, kMostHeads);
    in.whole("swa_head_dim", local.head_dim, 1, kWidest);
    if (in.whole("swa_v_head_dim", width, 1, kWidest)) local.value_dim = width;
    in.real("swa_rope_theta", local.rope_theta, 1, 1e12);
    in.demand("hybrid_layer_pattern");
    const std::vector<bool> slides = layers_with(in, config, "hybrid_layer_pattern", "1", "0");
    in.value("hybrid_block_size");
    if (!in.good()) return;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (!slides[i]) continue;
        LayerKeys& one = layers[i];
        one.heads = local.heads;
        one.kv_heads = local.kv_heads;
        one.head_dim = local.head_dim;
        one.value_dim = local.value_dim;
        one.rope_theta = local.rope_theta;
        one.sinks = local_sinks;
        if (window < config.network.max_positions) one.window = window;
    }
}

namespace {

/// "3,4,5": the layers with experts.
void read_enumerated(text::MappingReader& in, Config& config) {
    std::string listed;
    const text::NodePtr value = in.value("moe_layers_enum");
    if (!value || !in.text("moe_layers_enum", listed)) return;
    config.dense.assign(config.layers, true);
    for (const char* at = listed.data(); at < listed.data() + listed.size();) {
        int layer = 0;
        const auto [end, error] = std::from_chars(at, listed.data() + listed.size(), layer);
        if (error != std::errc() || layer < 0 || layer >= config.layers)
            return in.complain("moe_layers_enum", "layer numbers must be separated by commas");
        config.dense[layer] = false;
        at = end + 1;
    }
}

}  // namespace

/// Each head has a gate; windowed layers may have another number of heads.
void read_step3(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    LayerKeys& layer = config.layer;
    Architecture& a = config.network;
    layer.ffn = 11264;
    layer.kv_heads = 8;
    config.usual_head_dim = 128;
    a.norm_eps = 1e-5;
    in.whole("num_attention_groups", layer.kv_heads, 1, kMostHeads);
    read_llama_kind(in, config);
    read_biases(in, layer);
    a.family = Family::Planned;
    a.zero_centred_norms = true;
    layer.qk_norm = QkNorm::Heads;
    bool gated = true;
    in.flag("use_head_wise_attn_gate", gated);
    layer.head_gate = gated;
    config.dense_ffn = layer.ffn;
    layer.ffn = 1280;
    layer.experts = 288;
    layer.experts_per_token = 8;
    for (const std::string_view key : {"n_routed_experts", "num_experts", "moe_num_experts"})
        in.whole(key, layer.experts, 1, kMostExperts);
    for (const std::string_view key : {"num_experts_per_tok", "moe_top_k"})
        in.whole(key, layer.experts_per_token, 1, kMostExperts);
    in.whole("moe_intermediate_size", layer.ffn, 1, kWidestMlp);
    layer.shared_ffn = 1280;
    for (const std::string_view key : {"share_expert_dim", "share_expert_dims"})
        in.whole(key, layer.shared_ffn, 0, kWidestMlp);
    in.value("n_shared_experts");  // the width is that of all
    in.value("num_local_experts");
    layer.router = Router::Sigmoid;
    layer.router_dtype = RouterDtype::Fp32;
    layer.router_bias_correction = true;
    for (const std::string_view key : {"use_moe_router_bias", "moe_router_bias"})
        in.flag(key, layer.router_bias_correction);
    in.real("moe_router_scaling_factor", layer.router_scaling, 0, 1e6);
    for (const std::string_view key : {"scoring_func", "moe_router_activation"})
        expect_word(in, key, {"sigmoid"});
    config.dense_first = 3;
    read_enumerated(in, config);
    in.whole("first_k_dense_replace", config.dense_first, 0, kMostLayers);
    if (!config.dense.empty()) config.dense_first = 0;
    if (in.has("mlp_layer_types")) {
        const std::vector<bool> dense =
            layers_with(in, config, "mlp_layer_types", "dense", "sparse");
        config.dense = dense;
        config.dense_first = 0;
    }
    for (const char* key : {"swiglu_limits", "swiglu_limits_shared", "mtp_layer_types",
                            "mtp_mlp_layer_types", "query_pre_attn_scalar"})
        in.value(key);
    std::int64_t heads = layer.heads;
    in.whole("num_sliding_attention_heads", heads, 1, kMostHeads);
    if (const text::NodePtr map = in.value("attention_other_setting")) {
        text::MappingReader other(map, "attention_other_setting", in.mistakes());
        other.whole("num_attention_heads", heads, 1, kMostHeads);
        for (const char* key : {"attention_type", "head_dim", "true_head_dim"}) other.value(key);
        std::int64_t groups = layer.kv_heads;
        other.whole("num_attention_groups", groups, 1, kMostHeads);
        if (groups != layer.kv_heads)
            other.complain(
                "num_attention_groups",
                "windowed layers with a different number of key heads are not supported");
        other.finish();
    }
    std::int64_t window = 0;
    in.whole("sliding_window", window, 1, kMostPositions);
    in.value("layer_types");
    if (window == 0) return;
    in.demand("layer_types");
    if (!in.good()) return;
    set_windows(in, config, window, std::vector<bool>(config.layers));
    for (LayerKeys& one : layers_of(config))
        if (one.window) one.heads = heads;
}

namespace {

constexpr std::pair<std::string_view, Activation> kGemmaGelus[] = {
    {"gelu_pytorch_tanh", Activation::GegluTanh}};

/// Layers without a window have heads of their own width, whose keys are their values.
void read_gemma4_kinds(text::MappingReader& in, Config& config) {
    LayerKeys global = config.layer;
    in.whole("global_head_dim", global.head_dim, 1, kWidest);
    in.whole("num_global_key_value_heads", global.kv_heads, 1, kMostHeads);
    in.flag("attention_k_eq_v", global.keys_are_values);
    global.value_dim = global.head_dim;
    std::int64_t window = 1024;
    in.whole("sliding_window", window, 1, kMostPositions);
    in.demand("layer_types");
    const std::vector<bool> slides =
        layers_with(in, config, "layer_types", "sliding_attention", "full_attention");
    LayerKeys local = config.layer;
    const auto turn = [&](std::string_view kind, LayerKeys& layer) {
        const text::NodePtr maps = in.value("rope_parameters");
        const text::NodePtr map = maps ? maps->get(kind) : nullptr;
        if (map) read_rope_of(map, kind, in, config, layer);
        if (layer.rotary_dim == layer.head_dim) layer.rotary_dim.reset();
    };
    turn("sliding_attention", local);
    turn("full_attention", global);
    if (!in.good()) return;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        layers[i] = slides[i] ? local : global;
        if (slides[i] && window < config.network.max_positions) layers[i].window = window;
    }
}

}  // namespace

void read_gemma4(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    demand_sizes(in);
    layer.ffn = 9216;
    layer.kv_heads = 4;
    a.norm_eps = 1e-6;
    config.usual_head_dim = 256;
    config.usual_activation = Activation::GegluTanh;
    config.activations = kGemmaGelus;
    config.activation_key = "hidden_activation";
    read_llama_kind(in, config);
    a.family = Family::Planned;
    a.tied_embedding = true;
    in.flag("tie_word_embeddings", a.tied_embedding);
    a.scaled_embedding = true;
    if (double cap = 30; in.real("final_logit_softcapping", cap, kLeastCap, kMostCap))
        a.logit_softcap = cap;
    layer.norm_position = NormPosition::Both;
    layer.qk_norm = QkNorm::Heads;
    layer.value_norm = true;
    layer.query_pre_attn_scalar = 1;
    read_biases(in, layer);
    refuse_flag(in, "use_double_wide_mlp");
    expect_word(in, "use_bidirectional_attention", {"vision", "false"});
    in.value("vocab_size_per_layer_input");  // of embeddings of each layer, which are refused
    bool mixes = false;
    in.flag("enable_moe_block", mixes);
    for (const char* key :
         {"num_experts", "top_k_experts", "moe_intermediate_size", "expert_intermediate_size"})
        in.value(key);
    if (mixes) {
        for (const char* key : {"num_experts", "top_k_experts"}) in.demand(key);
        layer.beside_ffn = layer.ffn;
        in.whole("num_experts", layer.experts, 1, kMostExperts);
        in.whole("top_k_experts", layer.experts_per_token, 1, kMostExperts);
        for (const std::string_view key : {"expert_intermediate_size", "moe_intermediate_size"})
            in.whole(key, layer.ffn, 1, kWidestMlp);
    }
    if (in.good()) read_gemma4_kinds(in, config);
}

namespace {

/// The inner width of an MLP that a search left: two thirds of a multiple, up to one of 256.
std::int64_t searched_ffn(double multiple, std::int64_t hidden) {
    const auto width = static_cast<std::int64_t>(2 * multiple * static_cast<double>(hidden) / 3);
    return (width + 255) / 256 * 256;
}

/// Other keys of a block's part, which are not supported.
void refuse_searched(text::MappingReader& part) {
    for (const std::string_view key :
         {"replace_with_linear", "sparsify", "num_sink_tokens", "window_length", "unshifted_sink",
          "use_prefill_window_in_sink_attention", "hidden_act_in_block", "mamba", "llama4",
          "moe"}) {
        const text::NodePtr value = part.value(key);
        if (value && value->scalar != "false")
            part.complain(key, fmt::format("blocks with '{}' are not supported", key));
    }
}

LayerKeys searched_layer(const text::NodePtr& block, const Config& config,
                         text::Mistakes& mistakes) {
    LayerKeys layer = config.layer;
    text::MappingReader in(block, "block_configs", mistakes);
    for (const char* key : {"attention", "ffn"}) in.demand(key);
    bool gone = false;
    if (const text::NodePtr map = in.value("attention")) {
        text::MappingReader attention(map, "attention", mistakes);
        attention.flag("no_op", gone);
        refuse_searched(attention);
        std::int64_t group = 1;
        if (!gone) attention.demand("n_heads_in_group");
        attention.whole("n_heads_in_group", group, 1, kMostHeads);
        attention.finish();
        layer.kv_heads = std::max<std::int64_t>(1, layer.heads / group);
        if (gone) layer.mixer = MixerKind::None;
    }
    if (const text::NodePtr map = in.value("ffn")) {
        text::MappingReader ffn(map, "ffn", mistakes);
        bool none = false;
        double multiple = 1;
        ffn.flag("no_op", none);
        refuse_searched(ffn);
        if (!none && !ffn.has("intermediate_size")) ffn.demand("ffn_mult");
        if (ffn.real("ffn_mult", multiple, 0, 1e4))
            layer.ffn = std::max<std::int64_t>(1, searched_ffn(multiple, config.network.hidden));
        ffn.whole("intermediate_size", layer.ffn, 1, kWidestMlp);
        in.value("parallel_blocks");
        ffn.finish();
        layer.mlp = !none;
    }
    in.finish();
    return layer;
}

}  // namespace

void read_searched(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    config.layer.kv_heads = 0;
    config.layer.ffn = 1;
    config.network.norm_eps = 1e-5;
    read_llama_kind(in, config);
    read_biases(in, config.layer);
    config.network.family = Family::Planned;
    in.demand("block_configs");
    const text::NodePtr blocks = in.value("block_configs");
    if (!blocks || !in.good()) return;
    if (std::ssize(blocks->items) != config.layers)
        return in.complain("block_configs",
                           fmt::format("{} blocks are listed, but 'num_hidden_layers' is {}",
                                       blocks->items.size(), config.layers));
    Layers layers;
    for (const text::NodePtr& block : blocks->items) {
        const LayerKeys layer = searched_layer(block, config, in.mistakes());
        if (!in.good()) return;
        if (layer.mixer != MixerKind::None || layer.mlp) layers.append(layer_of(layer));
    }
    if (layers.count() == 0)
        return in.complain("block_configs", "none of the blocks has attention or an MLP");
    config.listed = layers;
}

}  // namespace debubble::models
