#include "models/architecture_writer.h"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "models/architecture_words.h"

namespace debubble::models {
namespace {

template <class E>
std::string_view spelled(const E& value, const auto& words) {
    const auto same = [&](const auto& entry) { return entry.second == value; };
    return std::find_if(std::begin(words), std::end(words), same)->first;
}

}  // namespace

std::string architecture_json(const Architecture& a) {
    nlohmann::ordered_json json;
    json["name"] = a.name;
    if (!a.source.empty()) json["source"] = a.source;
    json["family"] = spelled(a.family, kFamilies);
    json["layers"] = a.layers;
    json["hidden"] = a.hidden;
    json["heads"] = a.heads;
    json["kv_heads"] = a.kv_heads;
    json["head_dim"] = a.head_dim;
    json["ffn"] = a.ffn;
    if (a.experts > 0) {
        json["experts"] = a.experts;
        json["experts_per_token"] = a.experts_per_token;
    }
    json["vocab"] = a.vocab;
    json["max_positions"] = a.max_positions;
    json["norm"] = spelled(a.norm, kNorms);
    json["activation"] = spelled(a.activation, kActivations);
    json["positions"] = spelled(a.positions, kPositions);
    json["linear_bias"] = a.linear_bias;
    json["tied_embedding"] = a.tied_embedding;
    json["causal"] = a.causal;
    json["dropout"] = a.dropout;
    json["norm_eps"] = a.norm_eps;
    json["rope_theta"] = a.rope_theta;
    if (a.image_size) json["image_size"] = *a.image_size;
    if (a.patch_size) json["patch_size"] = *a.patch_size;
    if (a.channels) json["channels"] = *a.channels;
    for (const ShardingOverride& line : a.sharding)
        json["sharding"][line.pattern] = spelled(line.sharding, kShardings);
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace debubble::models
