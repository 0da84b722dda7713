#include <algorithm>

#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Configurations of networks whose attention sees keys that an indexer chooses: DeepSeek-V3.2's,
/// GLM-5's, MiniMax M3's and DeepSeek-V4's. They are planned alone.
namespace debubble::models {
namespace {

/// True for the layers that choose for themselves and those after them.
std::vector<bool> choosing_layers(text::MappingReader& in, const Config& config) {
    int every = 1;
    int offset = 1;
    in.whole("index_topk_freq", every, 1, kMostLayers);
    in.whole("index_skip_topk_offset", offset, 0, kMostLayers);
    refuse_given(in, "index_topk_pattern", "a pattern of layers with an indexer is not supported");
    in.value("index_share_for_mtp_iteration");
    std::vector<bool> chooses;
    for (int layer = 1; layer <= config.layers; ++layer)
        chooses.push_back(std::max(layer - std::max(offset, 1), 0) % every == 0);
    std::vector<std::string> words;
    if (!in.has("indexer_types") || !read_of_layers(in, config, "indexer_types", words))
        return chooses;
    for (std::size_t i = 0; i < words.size(); ++i) {
        chooses[i] = words[i] == "full";
        if (!chooses[i] && words[i] != "shared")
            in.complain("indexer_types",
                        fmt::format("a layer must be full or shared, not '{}'", words[i]));
    }
    if (!chooses.empty() && !chooses.front())
        in.complain("indexer_types",
                    "the first layer cannot share the selection of an earlier one");
    return chooses;
}

Indexer read_indexer_sizes(text::MappingReader& in, Indexer usual) {
    in.whole("index_n_heads", usual.heads, 1, kMostHeads);
    in.whole("index_head_dim", usual.head_dim, 1, kWidest);
    return usual;
}

}  // namespace

void read_deepseek_v32(text::MappingReader& in, Config& config) {
    read_deepseek_v3(in, config);
    config.network.family = Family::Planned;
    in.value("indexer_rope_interleave");
    in.value("moe_router_dtype");
    for (const char* same : {"num_experts", "num_local_experts"}) in.value(same);
    std::vector<std::string> kinds;
    if (in.has("layer_types") && read_of_layers(in, config, "layer_types", kinds))
        for (const std::string& kind : kinds)
            if (kind != "deepseek_sparse_attention" && kind != "indexed_attention")
                return in.complain("layer_types",
                                   fmt::format("layers must be indexed_attention, not '{}'", kind));
    SparseChoice sparse;
    in.whole("index_topk", sparse.keys, 1, kMostPositions);
    sparse.indexer = read_indexer_sizes(in, {64, 128, true});
    const std::vector<bool> chooses = choosing_layers(in, config);
    if (!in.good()) return;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        layers[i].sparse = sparse;
        if (!chooses[i]) layers[i].sparse->indexer.reset();
    }
}

namespace {

/// The same in the form that transformers writes.
void read_flat_choice(text::MappingReader& in, Config& config) {
    std::vector<std::string> kinds;
    if (!in.has("layer_types") || !read_of_layers(in, config, "layer_types", kinds)) return;
    SparseChoice choice{2048, 128, Indexer{4, 128, false}};
    std::int64_t blocks = 16;
    in.whole("index_n_heads", choice.indexer->heads, 1, kMostHeads);
    in.whole("index_head_dim", choice.indexer->head_dim, 1, kWidest);
    in.whole("index_topk_blocks", blocks, 1, kMostPositions);
    in.whole("index_block_size", choice.block, 1, kMostPositions);
    in.value("index_local_blocks");
    choice.keys = blocks * choice.block;
    if (!in.good()) return;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (kinds[i] == "minimax_m3_sparse")
            layers[i].sparse = choice;
        else if (kinds[i] != "full_attention")
            return in.complain(
                "layer_types",
                fmt::format("a layer must be minimax_m3_sparse or full_attention, not '{}'",
                            kinds[i]));
    }
}

/// Which layers choose blocks of keys, and how.
void read_block_choice(text::MappingReader& in, Config& config) {
    const text::NodePtr map = in.value("sparse_attention_config");
    if (!in.good()) return;
    if (!map) return read_flat_choice(in, config);
    text::MappingReader sparse(map, "sparse_attention_config", in.mistakes());
    bool used = true;
    sparse.flag("use_sparse_attention", used);
    SparseChoice choice{2048, 128, Indexer{4, 128, false}};
    std::int64_t blocks = 16;
    sparse.whole("sparse_index_dim", choice.indexer->head_dim, 1, kWidest);
    sparse.whole("sparse_num_index_heads", choice.indexer->heads, 1, kMostHeads);
    sparse.whole("sparse_topk_blocks", blocks, 1, kMostPositions);
    sparse.whole("sparse_block_size", choice.block, 1, kMostPositions);
    choice.keys = blocks * choice.block;
    expect_word(sparse, "sparse_score_type", {"max"});
    // Which blocks are always among the chosen, and whether the indexer has values of its own.
    for (const char* key : {"sparse_init_block", "sparse_local_block"}) sparse.value(key);
    std::vector<std::string> without;
    read_of_layers(sparse, config, "sparse_disable_index_value", without);
    std::vector<std::string> chooses;
    if (!read_of_layers(sparse, config, "sparse_attention_freq", chooses))
        chooses.assign(config.layers, "1");
    sparse.finish();
    if (!used || !in.good()) return;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (chooses[i] == "0") continue;
        layers[i].sparse = choice;
        if (!without.empty() && without[i] == "0")
            return sparse.complain("sparse_disable_index_value",
                                   "indexers with values are not supported");
    }
}

}  // namespace

void read_minimax_m3(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    Architecture& a = config.network;
    constexpr std::pair<std::string_view, Activation> kClamped[] = {
        {"swigluoai", Activation::ClampedSwiglu}, {"silu", Activation::Swiglu}};
    demand_sizes(in);
    layer.ffn = 3072;
    layer.kv_heads = 4;
    a.norm_eps = 1e-6;
    config.usual_head_dim = 128;
    config.usual_activation = Activation::ClampedSwiglu;
    config.activations = kClamped;
    read_llama_kind(in, config);
    a.family = Family::Planned;
    in.flag("use_gemma_norm", a.zero_centred_norms);
    refuse_flag(in, "attention_output_gate");
    bool normed = true;
    in.flag("use_qk_norm", normed);
    expect_word(in, "qk_norm_type", {"per_head"});
    if (normed) layer.qk_norm = QkNorm::Heads;
    in.value("partial_rotary_factor");
    std::int64_t rotated = layer.head_dim;
    in.whole("rotary_dim", rotated, 2, kWidest);
    if (rotated != layer.head_dim) layer.rotary_dim = rotated;
    for (const char* key : {"swiglu_alpha", "swiglu_limit"}) in.value(key);
    config.dense_ffn = 12288;
    in.whole("dense_intermediate_size", config.dense_ffn, 1, kWidestMlp);
    layer.experts = 128;
    layer.experts_per_token = 4;
    in.whole("num_local_experts", layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    in.whole("moe_intermediate_size", layer.ffn, 1, kWidestMlp);
    std::int64_t shared = 1;
    std::int64_t width = layer.ffn;
    in.whole("n_shared_experts", shared, 0, kMostExperts);
    in.whole("shared_intermediate_size", width, 0, kWidestMlp);
    layer.shared_ffn = shared * width;
    layer.router = Router::Sigmoid;
    layer.router_dtype = RouterDtype::Fp32;
    layer.router_bias_correction = true;
    in.flag("use_routing_bias", layer.router_bias_correction);
    in.real("routed_scaling_factor", layer.router_scaling, 0, 1e6);
    expect_word(in, "scoring_func", {"sigmoid"});
    in.whole("first_k_dense_replace", config.dense_first, 0, kMostLayers);
    std::vector<std::string> mixes;
    if (read_of_layers(in, config, "moe_layer_freq", mixes))
        for (const std::string& word : mixes) config.dense.push_back(word == "0");
    read_listed_dense(in, config);
    read_block_choice(in, config);
}

namespace {

/// The entries of a layer: tokens of each, 0 for none, and whether an indexer chooses among them.
struct LayerEntries {
    std::int64_t ratio = 0;
    bool chosen = false;
};

/// Tokens of an entry by the newer files' words for kinds of layers, which name a rate of each.
std::vector<LayerEntries> read_rates(text::MappingReader& in, const Config& config) {
    std::vector<std::string> kinds;
    std::vector<LayerEntries> ratios(config.layers);
    const text::NodePtr map = in.value("compress_rates");
    if (!read_of_layers(in, config, "layer_types", kinds) || !map) return ratios;
    text::MappingReader rates(map, "compress_rates", in.mistakes());
    std::int64_t few = 4;
    std::int64_t many = 128;
    rates.whole("compressed_sparse_attention", few, 1, 1 << 20);
    rates.whole("heavily_compressed_attention", many, 1, 1 << 20);
    rates.finish();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (kinds[i] == "compressed_sparse_attention")
            ratios[i] = {few, true};
        else if (kinds[i] == "heavily_compressed_attention")
            ratios[i] = {many, false};
        else if (kinds[i] != "sliding_attention")
            in.complain("layer_types",
                        fmt::format("unknown kind of compressed attention '{}'", kinds[i]));
    }
    return ratios;
}

/// Which tokens an entry of each layer stands for; older lists have those of prediction too.
std::vector<LayerEntries> read_ratios(text::MappingReader& in, const Config& config) {
    if (in.has("compress_rates")) return read_rates(in, config);
    std::vector<int> ratios;
    in.demand("compress_ratios");
    in.wholes("compress_ratios", ratios, 0, 1 << 20);
    if (in.good() && std::ssize(ratios) < config.layers)
        in.complain("compress_ratios", fmt::format("{} ratios are listed for {} layers",
                                                   ratios.size(), config.layers));
    ratios.resize(config.layers, 0);
    std::vector<LayerEntries> entries;
    for (const int ratio : ratios) {
        entries.push_back({ratio, ratio == 4});
        if (ratio != 0 && ratio != 4 && ratio != 128)
            in.complain(
                "compress_ratios",
                fmt::format("a compression ratio of {} is not supported; use 0, 4 or 128", ratio));
    }
    return entries;
}

/// Layers whose experts a table of tokens chooses: the first ones, or those that a list names.
std::vector<bool> hashed_layers(text::MappingReader& in, const Config& config) {
    int first = 0;
    in.whole("num_hash_layers", first, 0, kMostLayers);
    std::vector<bool> hashed;
    for (int i = 0; i < config.layers; ++i) hashed.push_back(i < first);
    std::vector<std::string> kinds;
    if (!in.has("mlp_layer_types") || !read_of_layers(in, config, "mlp_layer_types", kinds))
        return hashed;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        hashed[i] = kinds[i] == "hash_moe";
        if (!hashed[i] && kinds[i] != "moe")
            in.complain("mlp_layer_types",
                        fmt::format("a layer must be hash_moe or moe, not '{}'", kinds[i]));
    }
    return hashed;
}

void read_v4_experts(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    read_experts(in, config, "n_routed_experts");
    layer.router = Router::SqrtSoftplus;
    layer.router_dtype = RouterDtype::Fp32;
    layer.router_bias_correction = true;
    in.value("norm_topk_prob");
    in.real("routed_scaling_factor", layer.router_scaling, 0, 1e6);
    expect_word(in, "scoring_func", {"sqrtsoftplus"});
    expect_word(in, "topk_method", {"noaux_tc"});
    in.value("swiglu_limit");  // bounds of the activation's halves
    std::int64_t shared = 1;
    in.whole("n_shared_experts", shared, 0, kMostExperts);
    layer.shared_ffn = shared * layer.ffn;
}

}  // namespace

void read_deepseek_v4(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    Architecture& a = config.network;
    demand_sizes(in);
    a.norm_eps = 1e-6;
    config.usual_head_dim = 512;
    layer.kv_heads = 1;
    read_llama_kind(in, config);
    a.family = Family::Planned;
    refuse_flag(in, "attention_bias");
    if (layer.kv_heads != 1)
        in.complain("num_key_value_heads", "compressed attention must have one key-value head");
    CompressedKeys keys;
    std::int64_t rotated = 64;
    std::int64_t chosen = 512;
    std::int64_t window = 128;
    for (const std::string_view key : {"q_lora_rank", "o_lora_rank", "o_groups"}) in.demand(key);
    in.whole("q_lora_rank", keys.query_rank, 1, kWidest);
    in.whole("o_lora_rank", keys.out_rank, 1, kWidest);
    in.whole("o_groups", keys.groups, 1, kMostHeads);
    in.whole("qk_rope_head_dim", rotated, 2, kWidest);
    in.whole("index_topk", chosen, 1, kMostPositions);
    in.whole("sliding_window", window, 1, kMostPositions);
    in.value("partial_rotary_factor");  // that of qk_rope_head_dim
    in.whole("hc_mult", a.streams, 1, kMostStreams);
    for (const char* key : {"hc_eps", "hc_sinkhorn_iters", "compress_rope_theta"}) in.value(key);
    const Indexer indexer = read_indexer_sizes(in, {64, 128, true});
    layer.rotary_dim = rotated;
    layer.sinks = false;  // those of compressed attention are its own
    layer.window = window;
    const std::vector<LayerEntries> ratios = read_ratios(in, config);
    read_v4_experts(in, config);
    const std::vector<bool> hashed = hashed_layers(in, config);
    if (!in.good()) return;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        layers[i].compressed = keys;
        if (ratios[i].ratio > 0) layers[i].compressed->ratio = ratios[i].ratio;
        if (ratios[i].chosen) {
            layers[i].compressed->chosen = chosen;
            layers[i].compressed->indexer = indexer;
        }
        layers[i].hashed_router = hashed[i];
        if (layers[i].hashed_router) layers[i].router_bias_correction = false;  // nothing is chosen
    }
}

}  // namespace debubble::models
