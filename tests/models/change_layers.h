#pragma once

#include "models/network/architecture.h"
#include "models/read/layer_keys.h"

/// Networks of tests whose layers are changed by the keys of their files.
namespace debubble::models {

/// Applies change(LayerKeys&) to every layer.
inline void change_layers(Architecture& model, const auto& change) {
    model.layers = model.layers.changed([&](Layer& layer) {
        LayerKeys keys = keys_of(layer);
        change(keys);
        layer = layer_of(keys);
    });
}

/// The keys of the first layer.
inline LayerKeys layer_keys(const Architecture& model) {
    return keys_of(model.layers[0]);
}

/// Gives a network whose layers are alike another number of them.
inline void set_layer_count(Architecture& model, int count) {
    model.layers = {Layer(model.layers[0]), count};
}

}  // namespace debubble::models
