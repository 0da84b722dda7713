#include <algorithm>

#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Configurations of the networks after Llama. Defaults are those of transformers' MistralConfig,
/// Qwen2Config, Qwen3Config, Qwen3MoeConfig, DeepseekV2Config and DeepseekV3Config, as far as
/// published files leave keys out.
namespace debubble::models {
namespace {

/// Windows of Mistral and Qwen: a null, or one as long as the text, is none.
void read_window(text::MappingReader& in, Config& config) {
    std::int64_t window = 0;
    if (in.whole("sliding_window", window, 1, kMostPositions) &&
        window < config.network.max_positions)
        config.layer.window = window;
}

/// Qwen's layers with experts: every so many, and none in the list.
void read_sparse_layers(text::MappingReader& in, Config& config) {
    int every = 1;
    std::vector<int> dense;
    in.whole("decoder_sparse_step", every, 1, kMostLayers);
    in.wholes("mlp_only_layers", dense, 0, kMostLayers);
    if (every == 1 && dense.empty()) return;
    for (int i = 0; i < config.layers; ++i)
        config.dense.push_back((i + 1) % every != 0 || std::ranges::find(dense, i) != dense.end());
}

void read_groups(text::MappingReader& in, LayerKeys& layer) {
    in.whole("n_group", layer.router_groups, 1, kMostExperts);
    in.whole("topk_group", layer.router_groups_chosen, 1, kMostExperts);
    in.real("routed_scaling_factor", layer.router_scaling, 0, 1e6);
    expect_word(in, "scoring_func", {"sigmoid", "softmax"});
    expect_word(in, "topk_method", {"noaux_tc", "greedy", "group_limited_greedy", "softmax"});
}

}  // namespace

void read_latent(text::MappingReader& in, LayerKeys& layer) {
    LatentAttention latent;
    std::int64_t own = 1;
    for (const std::string_view key :
         {"kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"})
        in.demand(key);
    std::int64_t query_rank = 1;
    if (in.whole("q_lora_rank", query_rank, 1, kWidest)) latent.query_rank = query_rank;
    in.whole("kv_lora_rank", latent.key_rank, 1, kWidest);
    in.whole("qk_rope_head_dim", latent.rope_dim, 1, kWidest);
    in.whole("qk_nope_head_dim", own, 1, kWidest);
    in.whole("v_head_dim", layer.value_dim.emplace(1), 1, kWidest);
    layer.kv_heads = layer.heads;
    layer.head_dim = own + latent.rope_dim;
    layer.latent = latent;
}

/// Qwen's files give a window and, separately, whether it is used and in which layers.
void read_optional_window(text::MappingReader& in, Config& config) {
    bool used = false;
    for (const char* key : {"sliding_window", "max_window_layers", "layer_types"}) in.value(key);
    if (!in.flag("use_sliding_window", used) || !used) return;
    std::int64_t window = 0;
    if (!in.whole("sliding_window", window, 1, kMostPositions)) return;
    int whole = 28;  // layers before the first with a window
    in.whole("max_window_layers", whole, 0, kMostLayers);
    std::vector<bool> usual(config.layers);
    for (int i = 0; i < config.layers; ++i) usual[i] = i >= whole;
    set_windows(in, config, window, usual);
}

/// Shared experts and dense layers before those with experts, by DeepSeek's and GLM's names.
void read_shared_and_dense(text::MappingReader& in, Config& config) {
    std::int64_t shared = 0;
    in.whole("n_shared_experts", shared, 0, kMostExperts);
    config.layer.shared_ffn = shared * config.layer.ffn;
    in.whole("first_k_dense_replace", config.dense_first, 0, kMostLayers);
    const text::NodePtr listed = in.value("moe_layer_freq");
    if (listed && listed->is(text::Node::Kind::List)) {
        std::vector<std::string> words;
        if (!read_of_layers(in, config, "moe_layer_freq", words)) return;
        config.dense_first = 0;
        for (const std::string& word : words) config.dense.push_back(word == "0");
        return;
    }
    read_dense_between(in, config);
}

/// The sigmoid router of DeepSeek-V3 and those after it. transformers 5.24's DeepseekV3TopkRouter
/// and Glm4MoeTopkRouter make its logits of operands in fp32; the routers of Mixtral, Qwen, gpt-oss
/// and Llama 4 there do it in the model's type.
void read_sigmoid_router(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    layer.router_renormalises = layer.router == Router::Softmax;
    layer.router = Router::Sigmoid;
    layer.router_bias_correction = true;
    layer.router_dtype = RouterDtype::Fp32;
    read_groups(in, layer);
}

namespace {

/// The keys shared by DeepSeek's two generations.
void read_deepseek(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    config.network.norm_eps = 1e-6;
    config.layer.kv_heads = 0;
    config.usual_head_dim = 1;  // latent attention says its own
    read_llama_kind(in, config);
    config.network.family = Family::Deepseek;
    refuse_flag(in, "attention_bias");
    refuse_flag(in, "mlp_bias");
    read_latent(in, config.layer);
    read_experts(in, config, "n_routed_experts");
}

}  // namespace

void set_windows(text::MappingReader& in, Config& config, std::int64_t window,
                 const std::vector<bool>& usual) {
    std::vector<std::string> types;
    std::vector<bool> windows = usual;
    if (in.texts("layer_types", types)) {
        if (types.size() != usual.size())
            in.complain("layer_types", fmt::format("{} layers are listed, but the network has {}",
                                                   types.size(), usual.size()));
        for (std::size_t i = 0; i < std::min(types.size(), usual.size()); ++i) {
            windows[i] = types[i] == "sliding_attention";
            if (!windows[i] && types[i] != "full_attention")
                in.complain(
                    "layer_types",
                    fmt::format("unknown layer type '{}'; known: full_attention, sliding_attention",
                                types[i]));
        }
    }
    if (std::ranges::find(windows, true) == windows.end()) return;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i)
        if (windows[i] && window < config.network.max_positions) layers[i].window = window;
}

void read_experts(text::MappingReader& in, Config& config, std::string_view count) {
    LayerKeys& layer = config.layer;
    config.dense_ffn = layer.ffn;
    for (const std::string_view key : {count, std::string_view("num_experts_per_tok"),
                                       std::string_view("moe_intermediate_size")})
        in.demand(key);
    in.whole(count, layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    in.whole("moe_intermediate_size", layer.ffn, 1, kWidestMlp);
    read_softmax_router(in, layer, config.usually_renormalised);
}

void read_mistral(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    config.layer.ffn = 14336;
    config.layer.kv_heads = 8;
    config.network.norm_eps = 1e-6;
    read_llama_kind(in, config);
    read_window(in, config);
}

void read_qwen2(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    config.layer.ffn = 22016;
    config.layer.kv_heads = 0;
    config.network.norm_eps = 1e-6;
    read_llama_kind(in, config);
    config.layer.qkv_bias = true;
    read_optional_window(in, config);
}

void read_qwen2_moe(text::MappingReader& in, Config& config) {
    read_qwen2(in, config);
    LayerKeys& layer = config.layer;
    config.network.family = Family::Qwen3Next;  // whose shared experts have the same names
    bool biased = true;
    in.flag("qkv_bias", biased);
    layer.qkv_bias = biased;
    config.each.clear();
    read_experts(in, config, "num_experts");
    layer.shared_ffn = 5632;
    in.whole("shared_expert_intermediate_size", layer.shared_ffn, 0, kWidestMlp);
    layer.shared_gate = layer.shared_ffn > 0;
    read_sparse_layers(in, config);
    read_optional_window(in, config);
}

void read_qwen3(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    config.layer.ffn = 22016;
    config.layer.kv_heads = 0;
    config.network.norm_eps = 1e-6;
    read_llama_kind(in, config);
    config.network.family = Family::Deepseek;
    config.layer.qk_norm = QkNorm::Heads;
    read_biases(in, config.layer);
    bool normed = true;
    if (in.flag("use_qk_norm", normed) && !normed) config.layer.qk_norm = QkNorm::None;
    read_optional_window(in, config);
}

void read_qwen3_moe(text::MappingReader& in, Config& config) {
    read_qwen3(in, config);
    config.each.clear();
    // transformers 5 writes the name that Mixtral's files have.
    read_experts(in, config, in.has("num_local_experts") ? "num_local_experts" : "num_experts");
    read_sparse_layers(in, config);
    read_optional_window(in, config);
}

void read_deepseek_v2(text::MappingReader& in, Config& config) {
    read_deepseek(in, config);
    config.layer.router_dtype = RouterDtype::Fp32;  // DeepseekV2TopkRouter
    const text::NodePtr method = in.value("topk_method");
    expect_word(in, "scoring_func", {"softmax"});
    for (const char* key : {"n_group", "topk_group"}) in.value(key);  // of another method alone
    if (method && method->scalar == "group_limited_greedy") read_groups(in, config.layer);
    in.real("routed_scaling_factor", config.layer.router_scaling, 0, 1e6);
    read_shared_and_dense(in, config);
}

void read_deepseek_v3(text::MappingReader& in, Config& config) {
    config.dense_first = 3;
    bool neighbours = true;  // are rotated together in the stored weights
    if (in.flag("rope_interleave", neighbours) && !neighbours)
        in.complain("rope_interleave", "DeepSeek-V3 weights for rotating halves are not supported");
    read_deepseek(in, config);
    read_sigmoid_router(in, config);
    read_shared_and_dense(in, config);
}

void read_glm4_moe(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    config.layer.ffn = 10944;
    config.layer.kv_heads = 8;
    config.dense_first = 1;
    config.network.norm_eps = 1e-5;
    read_llama_kind(in, config);
    config.network.family = Family::Deepseek;
    read_rotary_share(in, config, "partial_rotary_factor", 0.5);
    bool biased = false;
    if (in.flag("attention_bias", biased) && biased) config.layer.qkv_bias = true;
    bool normed = false;
    if (in.flag("use_qk_norm", normed) && normed) config.layer.qk_norm = QkNorm::Heads;
    read_experts(in, config, "n_routed_experts");
    read_sigmoid_router(in, config);
    read_shared_and_dense(in, config);
}

}  // namespace debubble::models
