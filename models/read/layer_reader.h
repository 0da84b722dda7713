#pragma once

#include <vector>

#include "models/network/layers.h"
#include "models/read/architecture_words.h"
#include "models/read/layer_keys.h"
#include "text/key.h"
#include "text/mapping_reader.h"

/// The keys of a model file that describe its layers: those that hold for every layer, and
/// `layer_groups` where layers differ.
namespace debubble::models {

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

}  // namespace debubble::models
