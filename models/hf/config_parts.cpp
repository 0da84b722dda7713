#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Shared parts of the readers of Hugging Face's configurations.
namespace debubble::models {
namespace {

constexpr std::pair<std::string_view, Activation> kGated[] = {
    {"silu", Activation::Swiglu}, {"swish", Activation::Swiglu}, {"swiglu", Activation::Swiglu}};

}  // namespace

void refuse_flag(text::MappingReader& in, std::string_view key) {
    bool set = false;
    if (in.flag(key, set) && set)
        in.complain(key, fmt::format("networks with '{}' are not supported", key));
}

void refuse_given(text::MappingReader& in, std::string_view key, std::string_view sentence) {
    if (in.value(key)) in.complain(key, std::string(sentence));
}

void expect_word(text::MappingReader& in, std::string_view key,
                 std::initializer_list<std::string_view> words) {
    const text::NodePtr value = in.value(key);
    if (!value || std::ranges::find(words, value->scalar) != words.end()) return;
    in.complain(key, fmt::format("'{}' must be {}; '{}' is not supported", key,
                                 fmt::join(words, " or "), value->scalar));
}

bool read_of_layers(text::MappingReader& in, const Config& config, std::string_view key,
                    std::vector<std::string>& words) {
    const text::NodePtr list = in.value(key);
    if (!list) return false;
    if (!list->is(text::Node::Kind::List) || std::ssize(list->items) != config.layers) {
        in.complain(key, fmt::format("'{}' lists {} layers, but the network has {}", key,
                                     list->items.size(), config.layers));
        return false;
    }
    for (const text::NodePtr& item : list->items) words.push_back(item->scalar);
    return true;
}

bool is_null(const text::MappingReader& in, std::string_view key) {
    const text::NodePtr found = in.mapping()->get(key);
    return found && found->is(text::Node::Kind::Null);
}

void demand_sizes(text::MappingReader& in) {
    for (const std::string_view key : {"num_hidden_layers", "hidden_size", "num_attention_heads",
                                       "vocab_size", "max_position_embeddings"})
        in.demand(key);
}

void cut_heads(text::MappingReader& in, Config& config, std::string_view heads_key) {
    const std::int64_t hidden = config.network.hidden;
    const std::int64_t heads = config.layer.heads;
    config.layer.head_dim = std::max<std::int64_t>(1, hidden / heads);
    if (hidden % heads != 0)
        in.complain(heads_key,
                    fmt::format("{} heads do not divide the hidden size {}", heads, hidden));
}

void read_biases(text::MappingReader& in, LayerKeys& layer) {
    bool attention = false;
    if (in.flag("attention_bias", attention) && attention)
        layer.qkv_bias = layer.output_bias = true;
    in.flag("mlp_bias", layer.linear_bias);
    if (layer.linear_bias && !attention) layer.qkv_bias = layer.output_bias = false;
}

void read_llama_kind(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.family = Family::Llama;
    a.norm = Norm::RmsNorm;
    layer.activation = config.usual_activation;
    a.learned_positions = false;
    layer.rotary = true;
    layer.linear_bias = false;
    a.tied_embedding = false;
    config.layers = config.usual_layers;
    a.hidden = config.usual_hidden;
    layer.heads = config.usual_heads;
    in.whole("num_hidden_layers", config.layers, 1, kMostLayers);
    in.whole("hidden_size", a.hidden, 1, kWidest);
    in.whole("num_attention_heads", layer.heads, 1, kMostHeads);
    in.whole("vocab_size", a.vocab, 1, kLargestVocabulary);
    in.whole("max_position_embeddings", a.max_positions, 1, kMostPositions);
    in.whole("intermediate_size", layer.ffn, 1, kWidestMlp);
    if (layer.kv_heads == 0) layer.kv_heads = layer.heads;
    in.whole("num_key_value_heads", layer.kv_heads, 1, kMostHeads);
    if (!in.whole("head_dim", layer.head_dim, 1, kWidest)) {
        if (config.usual_head_dim)
            layer.head_dim = *config.usual_head_dim;
        else
            cut_heads(in, config, "num_attention_heads");
    }
    if (config.activations)
        in.word(config.activation_key, layer.activation, *config.activations);
    else
        in.word(config.activation_key, layer.activation, kGated);
    in.real("rms_norm_eps", a.norm_eps, 0, 1);
    read_rope(in, config);
    in.flag("tie_word_embeddings", a.tied_embedding);
}

void read_listed_dense(text::MappingReader& in, Config& config) {
    std::vector<std::string> kinds;
    if (!in.has("mlp_layer_types") || !read_of_layers(in, config, "mlp_layer_types", kinds)) return;
    config.dense_first = 0;
    config.dense.clear();
    for (const std::string& kind : kinds) config.dense.push_back(kind == "dense");
}

void read_dense_between(text::MappingReader& in, Config& config) {
    int every = 1;
    if (in.whole("moe_layer_freq", every, 1, kMostLayers) && every != 1)
        for (int i = 0; i < config.layers; ++i) config.dense.push_back(i % every != 0);
    read_listed_dense(in, config);
}

void read_softmax_router(text::MappingReader& in, LayerKeys& layer, bool renormalised) {
    in.flag("norm_topk_prob", renormalised);
    layer.router = renormalised ? Router::Softmax : Router::PreSoftmax;
}

std::vector<LayerKeys>& layers_of(Config& config) {
    if (!config.each.empty()) return config.each;
    config.each.assign(config.layers, config.layer);
    for (std::size_t i = 0; i < config.each.size(); ++i)
        if (std::cmp_less(i, config.dense_first) || (i < config.dense.size() && config.dense[i]))
            without_experts(config.each[i], config);
    return config.each;
}

void without_experts(LayerKeys& layer, const Config& config) {
    layer.experts = 0;
    layer.ffn = config.dense_ffn;
}

Architecture network_of(Config config) {
    config.network.layers = config.listed.value_or(Layers());
    if (!config.listed)
        for (const LayerKeys& layer : layers_of(config))
            config.network.layers.append(layer_of(layer));
    for (const std::string& note : config.notes) {
        config.network.source += ", " + note;
        if (note.starts_with("without ")) config.network.left_out.push_back(note);
    }
    return std::move(config.network);
}

}  // namespace debubble::models
