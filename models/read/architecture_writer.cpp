#include "models/read/architecture_words.h"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "models/read/layer_keys.h"
#include "models/read/layer_reader.h"

namespace debubble::models {
namespace {

template <class E>
std::string_view spelled(const E& value, const auto& words) {
    const auto same = [&](const auto& entry) { return entry.second == value; };
    return std::find_if(std::begin(words), std::end(words), same)->first;
}

std::string_view positions_of(const LayerKeys& keys, bool learned) {
    return spelled(keys.rotary  ? Positions::Rope
                   : keys.alibi ? Positions::Alibi
                   : learned    ? Positions::Learned
                                : Positions::None,
                   kPositions);
}

void add_recurrent(nlohmann::ordered_json& json, const LayerKeys& keys) {
    if (const auto& mamba = keys.mamba)
        json["mamba"] = {{"heads", mamba->heads},
                         {"head_dim", mamba->head_dim},
                         {"state", mamba->state},
                         {"groups", mamba->groups},
                         {"convolution", mamba->convolution},
                         {"chunk", mamba->chunk},
                         {"convolution_bias", mamba->convolution_bias}};
    if (keys.mamba && !keys.mamba->norm) json["mamba"]["norm"] = false;
    if (keys.mamba && keys.mamba->step_rank) json["mamba"]["step_rank"] = *keys.mamba->step_rank;
    if (keys.mamba && keys.mamba->step_norms) json["mamba"]["step_norms"] = true;
    if (keys.mamba_beside) json["mamba_beside"] = true;
    if (const auto& net = keys.delta_net)
        json["delta_net"] = {{"key_heads", net->key_heads},     {"value_heads", net->value_heads},
                             {"key_dim", net->key_dim},         {"value_dim", net->value_dim},
                             {"convolution", net->convolution}, {"chunk", net->chunk}};
    if (keys.delta_net && keys.delta_net->gate_rank != DeltaNet{}.gate_rank)
        json["delta_net"]["gate_rank"] = keys.delta_net->gate_rank;
    if (keys.delta_net && keys.delta_net->channel_decay) json["delta_net"]["channel_decay"] = true;
    if (keys.delta_net && keys.delta_net->fixed_decay) json["delta_net"]["fixed_decay"] = true;
    if (keys.delta_net && keys.delta_net->full_decay_gate)
        json["delta_net"]["full_decay_gate"] = true;
    if (keys.delta_net && keys.delta_net->full_output_gate)
        json["delta_net"]["full_output_gate"] = true;
}

nlohmann::ordered_json indexer_json(const Indexer& indexer) {
    return {
        {"heads", indexer.heads}, {"head_dim", indexer.head_dim}, {"weighted", indexer.weighted}};
}

/// Keys of attention and experts since 2025.
void add_newer(nlohmann::ordered_json& json, const LayerKeys& keys) {
    if (keys.head_gate) json["head_gate"] = true;
    if (keys.keys_are_values) json["keys_are_values"] = true;
    if (keys.value_norm) json["value_norm"] = true;
    if (!keys.latent && keys.value_dim) json["value_dim"] = *keys.value_dim;
    if (const auto& sparse = keys.sparse) {
        json["sparse_attention"] = {{"keys", sparse->keys}, {"block", sparse->block}};
        if (sparse->indexer) json["sparse_attention"]["indexer"] = indexer_json(*sparse->indexer);
    }
    if (const auto& shortened = keys.compressed) {
        json["compressed_attention"] = {{"query_rank", shortened->query_rank},
                                        {"groups", shortened->groups},
                                        {"out_rank", shortened->out_rank},
                                        {"ratio", shortened->ratio.value_or(0)},
                                        {"chosen", shortened->chosen.value_or(0)}};
        if (shortened->indexer)
            json["compressed_attention"]["indexer"] = indexer_json(*shortened->indexer);
    }
    if (keys.expert_latent_norm) json["expert_latent_norm"] = true;
    if (keys.beside_ffn > 0) json["beside_ffn"] = keys.beside_ffn;
    if (keys.hashed_router) json["hashed_router"] = true;
}

/// Writes a flag where it is not what the reader takes for the family without it.
void add_flag(nlohmann::ordered_json& json, const char* key, bool value, bool usual) {
    if (value != usual) json[key] = value;
}

bool is_usually_parallel(Family family) {
    return family == Family::GptNeox;
}

void add_layer(nlohmann::ordered_json& json, const LayerKeys& keys, Family family,
               bool learned_positions) {
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
                                {"mscale", scaling->mscale.value_or(0)},
                                {"truncate", scaling->truncate}};
    if (keys.rope_scaling && keys.rope_scaling->kind == RopeScaling::Kind::Longrope) {
        json["rope_scaling"]["short_factors"] = keys.rope_scaling->short_factors;
        json["rope_scaling"]["long_factors"] = keys.rope_scaling->long_factors;
    }
    if (keys.qk_norm != QkNorm::None) json["qk_norm"] = spelled(keys.qk_norm, kQkNorms);
    if (keys.output_bias) json["output_bias"] = *keys.output_bias;
    if (keys.window) json["window"] = *keys.window;
    if (keys.chunk) json["chunk"] = *keys.chunk;
    if (keys.sinks) json["sinks"] = true;
    if (keys.score_softcap) json["score_softcap"] = *keys.score_softcap;
    if (keys.query_pre_attn_scalar) json["query_pre_attn_scalar"] = *keys.query_pre_attn_scalar;
    if (const auto& growth = keys.temperature)
        json["query_temperature"] = {{"floor", growth->floor}, {"scale", growth->scale}};
    if (keys.latent)
        json["latent_attention"] = {{"query_rank", keys.latent->query_rank.value_or(0)},
                                    {"key_rank", keys.latent->key_rank},
                                    {"head_dim", keys.head_dim - keys.latent->rope_dim},
                                    {"rope_dim", keys.latent->rope_dim},
                                    {"value_dim", keys.value_dim.value_or(0)}};
    if (keys.shared_ffn > 0) json["shared_ffn"] = keys.shared_ffn;
    add_recurrent(json, keys);
    add_newer(json, keys);
    if (keys.output_gate) json["output_gate"] = true;
    if (keys.shared_gate) json["shared_gate"] = true;
    if (keys.expert_latent > 0) json["expert_latent"] = keys.expert_latent;
    if (keys.mixer != MixerKind::Attention) json["mixer"] = spelled(keys.mixer, kMixers);
    if (!keys.mlp) json["mlp"] = false;
    if (keys.router != Router::Softmax) json["router"] = spelled(keys.router, kRouters);
    if (keys.router_groups > 1) json["router_groups"] = keys.router_groups;
    if (keys.router_groups_chosen > 1) json["router_groups_chosen"] = keys.router_groups_chosen;
    if (!keys.router_renormalises) json["router_renormalises"] = false;
    if (keys.router_scaling != 1) json["router_scaling"] = keys.router_scaling;
    if (keys.router_dtype != RouterDtype::Compute)
        json["router_dtype"] = spelled(keys.router_dtype, kRouterDtypes);
    if (keys.router_bias) json["router_bias"] = true;
    if (keys.router_bias_correction) json["router_bias_correction"] = true;
    if (keys.weighs_experts_input) json["weighs_experts_input"] = true;
    if (keys.norm_position != NormPosition::Before)
        json["norm_position"] = spelled(keys.norm_position, kNormPositions);
    add_flag(json, "parallel_residual", keys.parallel_residual, is_usually_parallel(family));
    if (keys.one_norm) json["one_norm"] = true;
}

/// The keys outside the groups, each of which has all of its own: a group cannot undo what all
/// layers have.
LayerKeys beside_groups(const LayerKeys& first, Family family, bool learned_positions) {
    LayerKeys common;
    common.heads = first.heads;
    common.kv_heads = first.kv_heads;
    common.head_dim = first.head_dim;
    common.ffn = first.ffn;
    common.activation = first.activation;
    common.linear_bias = first.linear_bias;
    common.rotary = first.rotary && !learned_positions;  // one key says both
    common.rope_theta = first.rope_theta;
    common.parallel_residual = is_usually_parallel(family);
    return common;
}

/// The groups of layers, each with all of its keys.
void add_groups(nlohmann::ordered_json& json, const Architecture& a) {
    for (const LayerRun& run : runs_of(a.layers, 0, a.layers.count())) {
        const LayerKeys keys = keys_of(a.layers[run.first]);
        nlohmann::ordered_json group{{"count", run.count}};
        add_layer(group, keys, a.family, false);
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
    const LayerKeys first = keys_of(a.layers[0]);
    const bool alike = a.layers.kinds().size() < 2;
    add_layer(json, alike ? first : beside_groups(first, a.family, a.learned_positions), a.family,
              a.learned_positions);
    if (!alike) add_groups(json, a);
    json["max_positions"] = a.max_positions;
    json["norm"] = spelled(a.norm, kNorms);
    json["tied_embedding"] = a.tied_embedding;
    json["causal"] = a.causal;
    json["dropout"] = a.dropout;
    json["norm_eps"] = a.norm_eps;
    add_flag(json, "norm_bias", a.norm_bias, a.family != Family::Mpt);
    if (a.zero_centred_norms) json["zero_centred_norms"] = true;
    if (a.scaled_embedding) json["scaled_embedding"] = true;
    if (a.logit_softcap) json["logit_softcap"] = *a.logit_softcap;
    if (a.mtp_layers > 0) json["mtp_layers"] = a.mtp_layers;
    if (a.streams > 1) json["streams"] = a.streams;
    if (a.residual_block) json["residual_block"] = *a.residual_block;
    if (a.tower) add_tower(json, *a.tower);
    if (a.image_size) json["image_size"] = *a.image_size;
    if (a.patch_size) json["patch_size"] = *a.patch_size;
    if (a.channels) json["channels"] = *a.channels;
    for (const ShardingOverride& line : a.sharding)
        json["sharding"][line.pattern] = spelled(line.sharding, kShardings);
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace debubble::models
