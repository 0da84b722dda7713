#pragma once

#include "models/network/layers.h"

/// Layers whose attention sees keys that an indexer chooses, its own or that of a layer before.
namespace debubble::models {

/// True for a layer that sees the keys which a layer before it has chosen.
inline bool shares_choice(const Layer& layer) {
    const auto* attention = layer.as<Attention>();
    return attention != nullptr && attention->sparse && !attention->sparse->indexer;
}

/// The last layer up to this one at which a stage can begin.
inline int beginning_at(const Layers& layers, int layer) {
    while (layer > 0 && shares_choice(layers[layer])) --layer;
    return layer;
}

}  // namespace debubble::models
