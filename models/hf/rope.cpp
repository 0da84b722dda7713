#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"
#include "models/read/layer_reader.h"

/// Rotary positions in config.json, by transformers' modeling_rope_utils.py.
namespace debubble::models {
namespace {

using Kind = RopeScaling::Kind;
constexpr std::pair<std::string_view, Kind> kScalings[] = {
    {"linear", Kind::Linear}, {"dynamic", Kind::Dynamic},   {"llama3", Kind::Llama3},
    {"yarn", Kind::Yarn},     {"longrope", Kind::Longrope}, {"su", Kind::Longrope}};

/// Longer texts' factor is their length over the original's, where no key says it.
void read_longrope(text::MappingReader& rope, const Config& config, RopeScaling& scaling) {
    for (const std::string_view key : {"short_factor", "long_factor"}) rope.demand(key);
    rope.reals("short_factor", scaling.short_factors, kLeastRopeFactor, kMostRopeFactor);
    rope.reals("long_factor", scaling.long_factors, kLeastRopeFactor, kMostRopeFactor);
    scaling.factor = std::max(1.0, static_cast<double>(config.network.max_positions) /
                                       static_cast<double>(scaling.original_positions));
    rope.real("factor", scaling.factor, 1, kMostRopeFactor);
}

void read_yarn(text::MappingReader& rope, RopeScaling& scaling) {
    rope.real("beta_fast", scaling.beta_fast, 0, 1e6);
    rope.real("beta_slow", scaling.beta_slow, 0, 1e6);
    rope.flag("truncate", scaling.truncate);
    double mscale = 0;
    double of_all = 0;
    if (rope.real("mscale_all_dim", of_all, 0, 1e6) && of_all > 0) scaling.mscale = of_all;
    if (rope.real("mscale", mscale, 0, 1e6) && mscale != of_all)
        rope.complain("mscale",
                      "yarn with 'mscale' different from 'mscale_all_dim' is not supported");
}

/// Yarn's usual factor may be written out.
void read_attention_factor(text::MappingReader& rope, const RopeScaling& scaling) {
    double factor = 1;
    if (!rope.real("attention_factor", factor, 0, 1e6)) return;
    const double usual = scaling.kind == Kind::Yarn ? 0.1 * std::log(scaling.factor) + 1 : 0;
    if (std::abs(factor - usual) > 1e-6)
        rope.complain("attention_factor", "a custom attention factor is not supported");
}

/// The scaling of a map; `key` is the name of its kind, which was `type` once.
void read_scaling(text::MappingReader& rope, std::string_view key, Config& config,
                  LayerKeys& layer) {
    RopeScaling scaling;
    scaling.original_positions = config.original_positions.value_or(scaling.original_positions);
    if (!rope.word(key, scaling.kind, kScalings, "rotary positions")) return;
    rope.whole("original_max_position_embeddings", scaling.original_positions, 1, kMostPositions);
    if (scaling.kind == Kind::Longrope) {
        read_longrope(rope, config, scaling);
    } else {
        rope.demand("factor");
        rope.real("factor", scaling.factor, 1, kMostRopeFactor);
        rope.real("low_freq_factor", scaling.low_frequency_factor, 0, 1e6);
        rope.real("high_freq_factor", scaling.high_frequency_factor, 0, 1e6);
        if (scaling.kind == Kind::Yarn) read_yarn(rope, scaling);
    }
    read_attention_factor(rope, scaling);
    layer.rope_scaling = std::move(scaling);
}

void read_rope_map(const text::NodePtr& map, std::string_view name, text::Mistakes& mistakes,
                   Config& config, LayerKeys& layer) {
    text::MappingReader rope(map, name, mistakes);
    rope.real("rope_theta", layer.rope_theta, 1, 1e12);
    if (double share = 1; rope.real("partial_rotary_factor", share, 0, 1)) {
        const double columns = share * static_cast<double>(layer.head_dim);
        layer.rotary_dim = static_cast<std::int64_t>(columns);
    }
    const std::string_view kind = rope.has("rope_type") ? "rope_type" : "type";
    // In the newer map plain positions need no word.
    if (name == "rope_scaling") rope.demand(kind);
    const text::NodePtr word = rope.scalar(kind, "the type of RoPE scaling");
    const bool plain = word && (word->scalar == "default" || word->scalar == "mrope" ||
                                word->scalar == "proportional");
    if (word && !plain) read_scaling(rope, kind, config, layer);
    note_unread(rope, name, config.notes);
}

}  // namespace

void read_rope_of(const text::NodePtr& map, std::string_view name, text::MappingReader& in,
                  Config& config, LayerKeys& layer) {
    Config fresh;
    read_rope_map(map, name, in.mistakes(), fresh, layer);
    std::ranges::move(fresh.notes, std::back_inserter(config.notes));
}

void read_rope(text::MappingReader& in, Config& config) {
    in.real("rope_theta", config.layer.rope_theta, 1, 1e12);
    for (const std::string_view key : {"rope_scaling", "rope_parameters"}) {
        const text::NodePtr map = in.value(key);
        if (map && !map->get("full_attention"))
            read_rope_map(map, key, in.mistakes(), config, config.layer);
    }
}

void read_rotary_share(text::MappingReader& in, Config& config, std::string_view key,
                       double usual) {
    LayerKeys& layer = config.layer;
    const bool given = in.real(key, usual, 0, 1);
    if (given || !layer.rotary_dim)
        layer.rotary_dim = static_cast<std::int64_t>(usual * static_cast<double>(layer.head_dim));
    if (layer.rotary_dim == layer.head_dim) layer.rotary_dim.reset();
}

}  // namespace debubble::models
