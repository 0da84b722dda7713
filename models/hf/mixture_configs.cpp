#include <algorithm>

#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Configurations of mixtures of experts. Defaults are those of transformers' classes, as far as
/// published files leave keys out.
namespace debubble::models {
namespace {

/// A number, or a list with the same number for each layer.
template <class T>
void whole_of_all(text::MappingReader& in, std::string_view key, T& out, std::int64_t least,
                  std::int64_t most) {
    const text::NodePtr value = in.value(key);
    if (!value || !value->is(text::Node::Kind::List)) {
        std::int64_t number = out;
        in.whole(key, number, least, most);
        out = static_cast<T>(number);
        return;
    }
    std::vector<int> each;
    in.wholes(key, each, static_cast<int>(least), static_cast<int>(most));
    if (each.empty()) return;
    if (std::ranges::any_of(each, [&](int one) { return one != each.front(); }))
        return in.complain(
            key, fmt::format("layers with different values of '{}' are not supported", key));
    out = static_cast<T>(each.front());
}

}  // namespace

/// Weights of the chosen are not divided by their sum, unless a key asks for it.
void read_olmoe(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    demand_sizes(in);
    layer.ffn = 2048;
    layer.kv_heads = 0;
    config.network.norm_eps = 1e-5;
    refuse_given(in, "clip_qkv", "clipped queries, keys and values are not supported");
    read_llama_kind(in, config);
    config.network.family = Family::Deepseek;
    layer.qk_norm = QkNorm::Width;
    read_biases(in, layer);
    layer.experts = 64;
    layer.experts_per_token = 8;
    in.whole("num_experts", layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    read_softmax_router(in, layer, false);
}

void read_dots1(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    config.layer.ffn = 10944;
    config.layer.kv_heads = 0;
    config.network.norm_eps = 1e-6;
    read_llama_kind(in, config);
    config.network.family = Family::Deepseek;
    config.layer.qk_norm = QkNorm::Heads;
    read_biases(in, config.layer);
    read_experts(in, config, "n_routed_experts");
    read_sigmoid_router(in, config);
    read_shared_and_dense(in, config);
    int whole = config.layers;  // layers before the first with a window
    std::int64_t window = 0;
    in.whole("max_window_layers", whole, 0, kMostLayers);
    in.value("layer_types");
    if (!in.whole("sliding_window", window, 1, kMostPositions) || !in.good()) return;
    std::vector<bool> usual(config.layers);
    for (int i = whole; i < config.layers; ++i) usual[i] = true;
    set_windows(in, config, window, usual);
}

/// Queries and keys are normed over the whole width of all heads.
void read_minimax_m2(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    demand_sizes(in);
    layer.ffn = 1536;
    layer.kv_heads = 8;
    config.network.norm_eps = 1e-6;
    config.usual_head_dim = 128;
    read_llama_kind(in, config);
    config.network.family = Family::Planned;
    bool normed = true;
    in.flag("use_qk_norm", normed);
    expect_word(in, "qk_norm_type", {"per_layer"});
    if (normed) layer.qk_norm = QkNorm::Width;
    std::int64_t rotated = 0;
    if (in.whole("rotary_dim", rotated, 2, kWidest)) layer.rotary_dim = rotated;
    if (layer.rotary_dim == layer.head_dim) layer.rotary_dim.reset();
    layer.experts = 256;
    layer.experts_per_token = 8;
    in.whole("num_local_experts", layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    layer.router = Router::Sigmoid;
    layer.router_dtype = RouterDtype::Fp32;
    layer.router_bias_correction = true;
    in.flag("use_routing_bias", layer.router_bias_correction);
    expect_word(in, "scoring_func", {"sigmoid"});
    in.whole("shared_intermediate_size", layer.shared_ffn, 0, kWidestMlp);
    std::vector<std::string> kinds;
    if (!in.has("attn_type_list") || !read_of_layers(in, config, "attn_type_list", kinds)) return;
    if (std::ranges::any_of(kinds, [](const std::string& kind) { return kind != "1"; }))
        in.complain("attn_type_list", "layers with lightning attention (0) are not supported");
}

void read_ernie4_5_moe(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    read_ernie4_5(in, config);
    config.dense_ffn = layer.ffn;
    layer.experts = 64;
    layer.experts_per_token = 6;
    layer.ffn = 1536;
    in.whole("moe_num_experts", layer.experts, 1, kMostExperts);
    in.whole("moe_k", layer.experts_per_token, 1, kMostExperts);
    in.whole("moe_intermediate_size", layer.ffn, 1, kWidestMlp);
    std::int64_t shared = 2;
    in.whole("moe_num_shared_experts", shared, 0, kMostExperts);
    layer.shared_ffn = shared * layer.ffn;
    layer.router_dtype = RouterDtype::Fp32;
    layer.router_bias = true;  // of the choice, which transformers has among the parameters
    in.value("moe_use_aux_free");
    expect_word(in, "moe_gate", {"topk"});
    int first = 1;
    int last = -1;
    int every = 1;
    in.whole("moe_layer_start_index", first, 0, kMostLayers);
    in.whole("moe_layer_end_index", last, -1, kMostLayers);
    in.whole("moe_layer_interval", every, 1, kMostLayers);
    if (last < 0) last = config.layers - 1;
    for (int i = 0; i < config.layers; ++i)
        config.dense.push_back(i < first || i > last || (i + 1) % every != 0);
}

void read_hunyuan_moe(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    read_hunyuan_dense(in, config);
    refuse_flag(in, "use_cla");
    in.value("cla_share_factor");
    layer.experts = 1;
    whole_of_all(in, "num_experts", layer.experts, 1, kMostExperts);
    whole_of_all(in, "moe_topk", layer.experts_per_token, 1, kMostExperts);
    config.dense_ffn = layer.ffn;
    whole_of_all(in, "moe_intermediate_size", layer.ffn, 1, kWidestMlp);
    bool mixed = true;
    in.flag("use_mixed_mlp_moe", mixed);
    std::int64_t shared = 1;
    whole_of_all(in, "num_shared_expert", shared, 0, kMostExperts);
    if (mixed) layer.shared_ffn = shared * layer.ffn;
    layer.router_dtype = RouterDtype::Fp32;
    in.whole("moe_layer_num_skipped", config.dense_first, 0, kMostLayers);
    if (layer.experts == 1) layer.experts = layer.shared_ffn = 0;
}

/// DeepSeek-V3's layers, of which the first alone is dense.
void read_glm4_moe_lite(text::MappingReader& in, Config& config) {
    read_deepseek_v3(in, config);
    if (!in.has("first_k_dense_replace") && !in.has("mlp_layer_types")) config.dense_first = 1;
}

void read_glm4v_moe(text::MappingReader& in, Config& config) {
    read_glm4_moe(in, config);
    if (!in.has("attention_bias")) config.layer.qkv_bias = true;
}

}  // namespace debubble::models
