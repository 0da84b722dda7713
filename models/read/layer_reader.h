#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/network/architecture.h"
#include "models/network/layer.h"
#include "models/network/layers.h"
#include "models/read/architecture_words.h"
#include "models/read/layer_keys.h"
#include "text/document.h"
#include "text/key.h"
#include "text/mapping_reader.h"

/// The readers of parts of a model file: layers, which are given by groups or as a list, RoPE
/// scaling, and the vision tower.
namespace debubble::models {

// The keys of a model file that describe its layers: those that hold for every layer, and
// `layer_groups` where layers differ.

/// Reads the keys of a layer into `keys`, which holds their defaults; those that are made from
/// others (as many key-value heads as heads) are not defaults. `hidden` is the network's width.
void read_layer_keys(text::MappingReader& in, std::int64_t hidden, LayerKeys& keys);
/// Descriptions of these keys, with the values of `fresh` as defaults.
std::vector<text::Key> described_layer_keys(const LayerKeys& fresh, Positions positions);

/// Reads `layer_groups`, whose groups have the keys of `common` and change some; without it all
/// `count` layers are those of `common`. The groups' layers must be as many as `count`, unless
/// `layers` stands in another file than the groups and asks for fewer: it then keeps the first.
/// Complains about what does not fit, and about groups whose layers cannot be.
Layers read_layers(text::MappingReader& in, int count, std::int64_t hidden,
                   const LayerKeys& common);
text::Key layer_groups_key();

/// Networks whose `layers` are a list, each element with its parts as maps:
///
///     layers:
///       - {count: 3, attention: {kind: mla, heads: 128, key_rank: 512, ...}, mlp: {kind: dense}}
///       - {count: 58, attention: {kind: mla, ...}, mlp: {kind: moe, experts: 256, ...}}
///     mtp: 1
///
/// The same network by the reader's own keys: `layer_groups`, their number as `layers`, and
/// `mtp_layers`. Maps without such a list are returned as they are.
text::NodePtr with_layer_groups(const text::NodePtr& map, text::Mistakes& mistakes);

/// Reads the map of `key`, if there is one, and complains about factors that do not fit its kind.
void read_rope_scaling(text::MappingReader& in, std::string_view key,
                       std::optional<RopeScaling>& scaling);
/// The map's form for descriptions.
text::Form rope_scaling_form();

/// The least and the most factor of an angle, and of a longer text.
inline constexpr double kLeastRopeFactor = 1e-6;
inline constexpr double kMostRopeFactor = 1e6;

// A vision tower in model files: the map `vision`, and separate keys for its training.

/// Reads the map into the network's tower. Precondition: the network's width has been read.
void read_tower(text::MappingReader& model, std::string_view key, Architecture& network);
text::Form tower_form();

/// Reads the keys next to that map, which a scenario may set for a model with a tower; they are
/// mistakes for one without.
void read_tower_use(text::MappingReader& model, Architecture& network);
std::vector<text::Key> tower_use_keys();

/// The tower by both.
void add_tower(nlohmann::ordered_json& json, const VisionTower& tower);

/// True for the name of a parameter of a tower.
bool is_of_tower(const std::string& parameter);

}  // namespace debubble::models
