#include "models/network/architecture_limits.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/network/weight_format.h"

namespace debubble::models {
namespace {

double inner_columns(const DenseMlp& mlp) {
    return static_cast<double>(mlp.ffn);
}
double mixer_columns(const Attention& attention) {
    return 4 * static_cast<double>(attention.query_width());
}
double mixer_columns(const Mamba& mamba) {
    return static_cast<double>(mamba.projected()) + static_cast<double>(mamba.inner());
}
double mixer_columns(const DeltaNet& net) {
    return static_cast<double>(net.projected()) + static_cast<double>(net.value_width());
}
double mixer_columns(const NoMixer& /*none*/) {
    return 0;
}
double inner_columns(const NoMlp& /*none*/) {
    return 0;
}
double inner_columns(const Experts& experts) {
    return static_cast<double>(experts.ffn) * static_cast<double>(experts.count);
}

/// The number of parameters to leading order, in doubles, which do not overflow.
double largest_count(const Architecture& a) {
    const auto h = static_cast<double>(a.hidden);
    double layers = 0;
    for (std::size_t kind = 0; kind < a.layers.kinds().size(); ++kind) {
        const Layer& layer = a.layers.kinds()[kind];
        const double heads =
            h * std::visit([](const auto& part) { return mixer_columns(part); }, layer.mixer);
        const double mlp =
            3 * h * std::visit([](const auto& part) { return inner_columns(part); }, layer.mlp);
        layers += a.layers.count_of(kind) * (heads + mlp);
    }
    const auto rows = static_cast<double>(2 * a.vocab + a.max_positions);
    return layers + rows * h;
}

}  // namespace

namespace {

void check_experts(const Experts& experts, text::MappingReader& map) {
    if (experts.per_token > experts.count)
        map.complain("experts_per_token",
                     fmt::format("a token cannot be routed to {} of {} experts", experts.per_token,
                                 experts.count));
    if (experts.count % experts.groups != 0)
        map.complain("router_groups",
                     fmt::format("{} experts cannot be divided into {} equal groups", experts.count,
                                 experts.groups));
    else if (experts.groups_chosen > experts.groups)
        map.complain("router_groups_chosen",
                     fmt::format("a token cannot be routed to {} of {} expert groups",
                                 experts.groups_chosen, experts.groups));
    else if (experts.groups > 1 &&
             experts.per_token > experts.count / experts.groups * experts.groups_chosen)
        map.complain(
            "router_groups_chosen",
            fmt::format("{} of {} groups have {} experts, fewer than the {} of a token",
                        experts.groups_chosen, experts.groups,
                        experts.count / experts.groups * experts.groups_chosen, experts.per_token));
    if (experts.bias_correction && experts.router != Router::Sigmoid &&
        experts.router != Router::SqrtSoftplus)
        map.complain("router_bias_correction",
                     "only the scores of a sigmoid router have a bias for the choice");
}

/// Complains about keys that latent attention does not support.
void check_latent(const Attention& attention, text::MappingReader& map) {
    if (!attention.latent) return;
    const auto refuse = [&](bool has, std::string_view key, std::string_view what) {
        if (has) map.complain(key, fmt::format("latent attention has no {}", what));
    };
    refuse(attention.qk_norm != QkNorm::None, "qk_norm",
           "norms of queries and keys other than its own");
    refuse(attention.qkv_bias || attention.output_bias, "linear_bias", "biases");
    refuse(attention.rotary_dim.has_value(), "rotary_dim",
           "'rotary_dim' in addition to 'rope_dim'");
    if (attention.rotary && attention.latent->rope_dim % 2 != 0)
        map.complain("latent_attention",
                     fmt::format("RoPE rotates pairs of columns, but a rope_dim of {} is odd",
                                 attention.latent->rope_dim));
}

/// The number of angles of rotary positions: one for each pair of rotated columns.
std::int64_t angles(const Attention& attention) {
    if (attention.latent) return attention.latent->rope_dim / 2;
    return attention.rotary_dim.value_or(attention.head_dim) / 2;
}

void check_masks_and_angles(const Attention& attention, text::MappingReader& map) {
    if (attention.window && attention.chunk)
        map.complain("chunk", "a layer has a window or chunks, not both");
    const auto& scaling = attention.rope_scaling;
    if (!scaling || scaling->kind != RopeScaling::Kind::Longrope) return;
    for (const std::vector<double>* factors : {&scaling->short_factors, &scaling->long_factors})
        if (static_cast<std::int64_t>(factors->size()) != angles(attention))
            return map.complain("rope_scaling",
                                fmt::format("{} factors are not one for each of the {} angles",
                                            factors->size(), angles(attention)));
}

void check_recurrent(const Layer& layer, text::MappingReader& map) {
    if (const auto* mamba = layer.state_space()) {
        if (mamba->projected() > kWidestMlp)
            map.complain("mamba", fmt::format("a state-space layer of {} columns is wider than {}",
                                              mamba->projected(), kWidestMlp));
        if (mamba->step_rank && layer.beside)
            map.complain("mamba", "Mamba-1 parallel to attention is not supported");
        if (mamba->step_norms && !mamba->step_rank)
            map.complain("mamba", "'step_norms' need Mamba-1: give 'step_rank'");
        if (!mamba->step_rank && mamba->heads % mamba->groups != 0)
            map.complain("mamba", fmt::format("{} groups do not divide the {} heads of a "
                                              "state-space layer",
                                              mamba->groups, mamba->heads));
    }
    if (const auto* net = layer.as<DeltaNet>()) {
        if (net->projected() > kWidestMlp)
            map.complain("delta_net", fmt::format("a delta net of {} columns is wider than {}",
                                                  net->projected(), kWidestMlp));
        if (net->value_heads % net->key_heads != 0)
            map.complain("delta_net", fmt::format("{} key heads do not divide the {} value heads "
                                                  "of a delta net",
                                                  net->key_heads, net->value_heads));
        if ((net->channel_decay || net->fixed_decay) &&
            (net->key_heads != net->value_heads || net->key_dim != net->value_dim))
            map.complain("delta_net",
                         "keys and values of such a layer have as many heads of one width");
        if (net->channel_decay && net->fixed_decay)
            map.complain("delta_net",
                         "a layer can decay by channels or by fixed factors, not both");
    }
    if (const auto* attention = layer.as<Attention>();
        attention && attention->output_gate && attention->latent && attention->sparse)
        map.complain("output_gate", "sparse latent attention with an output gate is not supported");
    if (const auto* experts = layer.as<Experts>();
        experts && experts->shared_gate && !experts->shared_ffn)
        map.complain("shared_gate", "there are no shared experts: give their size by 'shared_ffn'");
}

}  // namespace

void check_layer(const Layer& layer, text::MappingReader& map) {
    if (!layer.mixes() && !layer.has_mlp())
        map.complain("mixer", "a layer without a mixer needs an MLP, but 'mlp' is false");
    if (const auto* attention = layer.as<Attention>()) {
        check_latent(*attention, map);
        check_masks_and_angles(*attention, map);
        if (attention->query_width() > kWidestMlp)
            map.complain("heads", fmt::format("{} heads of {} columns exceed {} columns",
                                              attention->heads, attention->head_dim, kWidestMlp));
        if (attention->heads % attention->kv_heads != 0)
            map.complain("kv_heads", fmt::format("{} key-value heads do not divide {} heads",
                                                 attention->kv_heads, attention->heads));
        const std::int64_t rotated = attention->rotary_dim.value_or(0);
        if (rotated % 2 != 0 || rotated > attention->head_dim)
            map.complain("rotary_dim",
                         fmt::format("{} columns of a head of {} cannot be rotated in "
                                     "pairs",
                                     rotated, attention->head_dim));
        const bool rotates_whole = attention->rotary && rotated == 0 && !attention->latent;
        if (rotates_whole && attention->head_dim % 2 != 0)
            map.complain(
                "head_dim",
                fmt::format("RoPE rotates pairs of columns, but a head dimension of {} is odd",
                            attention->head_dim));
    }
    const auto* experts = layer.as<Experts>();
    if (experts != nullptr) check_experts(*experts, map);
    if (layer.one_norm && !layer.parallel)
        map.complain("one_norm", "parts that share one norm need 'parallel_residual: true'");
    const auto* beside = layer.beside ? layer.as<Attention>() : nullptr;
    if (layer.beside && (beside == nullptr || layer.parallel || beside->latent || beside->sparse ||
                         beside->compressed || layer.norms != NormPosition::Before))
        map.complain("mamba_beside",
                     "a parallel state-space part needs multi-head attention in its layer and the "
                     "norm before both");
    const bool plain_mlp = experts != nullptr ? !experts->beside_ffn : layer.has_mlp();
    if (layer.one_norm &&
        (layer.as<Attention>() == nullptr || layer.as<Attention>()->latent ||
         layer.as<Attention>()->sparse || layer.as<Attention>()->compressed || !plain_mlp))
        map.complain("one_norm",
                     "only multi-head attention and an MLP or experts can share one norm");
    if (layer.parallel && !(layer.mixes() && layer.has_mlp()))
        map.complain("parallel_residual", "parallel_residual needs both a mixer and an MLP");
    if (layer.parallel && layer.norms != NormPosition::Before)
        map.complain("norm_position",
                     "attention and MLP with the same input need their norms before them");
    check_recurrent(layer, map);
}

std::int64_t vit_positions(const Architecture& a) {
    const std::int64_t side = a.image_size.value_or(1) / a.patch_size.value_or(1);
    return side * side + 1;
}

namespace {

/// Refuses what is not supported with several residual streams.
void check_streams(const Architecture& a, text::MappingReader& map) {
    if (!a.mixes_streams()) return;
    const char* key = a.streams > 1 ? "streams" : "residual_block";
    if (a.streams > 1 && a.residual_block)
        map.complain(
            key, "a network can have several residual streams or stored residual sums, not both");
    if (a.mtp_layers > 0)
        map.complain("mtp_layers",
                     "multi-token prediction with several residual streams is not supported");
    for (const Layer& layer : a.layers.kinds())
        if (layer.parallel || layer.norms != NormPosition::Before) {
            map.complain(key,
                         "layers that mix several residual streams need norms before their parts "
                         "and no parallel residual");
            break;
        }
}

}  // namespace

void check_architecture(const Architecture& a, text::MappingReader& map) {
    check_streams(a, map);
    for (const Layer& layer : a.layers.kinds()) check_layer(layer, map);
    if (a.tower)
        for (const Layer& layer : a.tower->layers.kinds()) check_layer(layer, map);
    if (a.tower && a.sees_images()) map.complain("vision", "a vit cannot have a vision tower");
    const double parameters = largest_count(a);
    if (parameters > kMostParameters)
        map.complain("layers", fmt::format("about {:.1e} parameters exceed the limit of {:.0e}",
                                           parameters, kMostParameters));
    std::int64_t experts = 0;
    for (std::size_t kind = 0; kind < a.layers.kinds().size(); ++kind)
        if (const auto* of_kind = a.layers.kinds()[kind].as<Experts>())
            experts += of_kind->count * a.layers.count_of(kind);
    if (experts > kMostExpertsOfAll)
        map.complain("experts",
                     fmt::format("{} experts in all layers together exceed the limit of {}",
                                 experts, kMostExpertsOfAll));
    for (FormatMistake& mistake : format_mistakes(a))
        map.complain(mistake.key, std::move(mistake.sentence));
    if (a.mtp_layers > 0 && (a.sees_images() || a.learned_positions))
        map.complain("mtp_layers",
                     "multi-token prediction needs a network of tokens without learned positions");
    if (!a.sees_images()) return;
    if (*a.image_size % *a.patch_size != 0)
        map.complain("patch_size", fmt::format("patches of {} pixels do not tile an image of {}",
                                               *a.patch_size, *a.image_size));
    else if (a.max_positions != vit_positions(a))
        map.complain("max_positions",
                     fmt::format("{} pixels in patches of {} and a class token are {} positions, "
                                 "not {}",
                                 *a.image_size, *a.patch_size, vit_positions(a), a.max_positions));
}

}  // namespace debubble::models
