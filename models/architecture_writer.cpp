#include "models/architecture_writer.h"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "models/architecture_words.h"
#include "models/layer_keys.h"

namespace debubble::models {
namespace {

template <class E>
std::string_view spelled(const E& value, const auto& words) {
    const auto same = [&](const auto& entry) { return entry.second == value; };
    return std::find_if(std::begin(words), std::end(words), same)->first;
}

std::string_view positions_of(const LayerKeys& keys, bool learned) {
    return spelled(keys.rotary ? Positions::Rope
                   : learned   ? Positions::Learned
                               : Positions::None,
                   kPositions);
}

void add_layer(nlohmann::ordered_json& json, const LayerKeys& keys, bool learned_positions) {
    json["heads"] = keys.heads;
    if (!keys.latent) json["kv_heads"] = keys.kv_heads;
    if (!keys.latent) json["head_dim"] = keys.head_dim;
    json["ffn"] = keys.ffn;
    if (keys.experts > 0) {
        json["experts"] = keys.experts;
        json["experts_per_token"] = keys.experts_per_token;
    }
    json["activation"] = spelled(keys.activation, kActivations);
    json["positions"] = positions_of(keys, learned_positions);
    json["linear_bias"] = keys.linear_bias;
    json["rope_theta"] = keys.rope_theta;
    if (keys.qkv_bias) json["qkv_bias"] = *keys.qkv_bias;
    if (keys.rotary_dim) json["rotary_dim"] = *keys.rotary_dim;
    if (const auto& scaling = keys.rope_scaling)
        json["rope_scaling"] = {{"type", spelled(scaling->kind, kRopeScalings)},
                                {"factor", scaling->factor},
                                {"original_positions", scaling->original_positions},
                                {"low_frequency_factor", scaling->low_frequency_factor},
                                {"high_frequency_factor", scaling->high_frequency_factor},
                                {"beta_fast", scaling->beta_fast},
                                {"beta_slow", scaling->beta_slow},
                                {"mscale", scaling->mscale}};
    if (keys.qk_norm != QkNorm::None) json["qk_norm"] = spelled(keys.qk_norm, kQkNorms);
    if (keys.window) json["window"] = *keys.window;
    if (keys.latent)
        json["latent_attention"] = {{"query_rank", keys.latent->query_rank},
                                    {"key_rank", keys.latent->key_rank},
                                    {"head_dim", keys.head_dim - keys.latent->rope_dim},
                                    {"rope_dim", keys.latent->rope_dim},
                                    {"value_dim", keys.value_dim}};
    if (keys.shared_ffn > 0) json["shared_ffn"] = keys.shared_ffn;
    if (keys.mixer != MixerKind::Attention) json["mixer"] = spelled(keys.mixer, kMixers);
    if (!keys.mlp) json["mlp"] = false;
    if (keys.router != Router::Softmax) json["router"] = spelled(keys.router, kRouters);
}

/// The groups of layers, each with all of its keys, where not all layers are alike.
void add_groups(nlohmann::ordered_json& json, const Architecture& a, const LayerKeys& common) {
    if (a.layers.kinds().size() < 2) return;
    for (const LayerRun& run : runs_of(a.layers, 0, a.layers.count())) {
        const LayerKeys keys = keys_of(a.layers[run.first]);
        nlohmann::ordered_json group{{"count", run.count}};
        add_layer(group, keys, false);
        if (common.experts > 0 && keys.experts == 0) group["experts"] = 0;
        if (common.mixer != keys.mixer) group["mixer"] = spelled(keys.mixer, kMixers);
        if (common.mlp != keys.mlp) group["mlp"] = keys.mlp;
        json["layer_groups"].push_back(std::move(group));
    }
}

}  // namespace

std::string architecture_json(const Architecture& a) {
    nlohmann::ordered_json json;
    json["name"] = a.name;
    if (!a.source.empty()) json["source"] = a.source;
    json["family"] = spelled(a.family, kFamilies);
    json["layers"] = a.layers.count();
    json["hidden"] = a.hidden;
    json["vocab"] = a.vocab;
    const LayerKeys common = keys_of(a.layers[0]);
    add_layer(json, common, a.learned_positions);
    add_groups(json, a, common);
    json["max_positions"] = a.max_positions;
    json["norm"] = spelled(a.norm, kNorms);
    json["tied_embedding"] = a.tied_embedding;
    json["causal"] = a.causal;
    json["dropout"] = a.dropout;
    json["norm_eps"] = a.norm_eps;
    if (a.image_size) json["image_size"] = *a.image_size;
    if (a.patch_size) json["patch_size"] = *a.patch_size;
    if (a.channels) json["channels"] = *a.channels;
    for (const ShardingOverride& line : a.sharding)
        json["sharding"][line.pattern] = spelled(line.sharding, kShardings);
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace debubble::models
