#pragma once

#include "models/build/graph_builder.h"

/// The vision tower of the first stage. Private to the folder.
namespace debubble::models {

/// The network of a tower's layers, without its ends.
Architecture network_of_tower(const VisionTower& tower);

/// The embedding with the tokens of images in place of their placeholders. The features that later
/// layers add are left in the builder.
Value embedding_with_images(GraphBuilder& builder, int stream_gradient);

/// Adds the features of the tower that are due after that layer, if there are any. `result` is the
/// name of the sum's gradient, if it is to have one of its own.
Value add_features(GraphBuilder& builder, int layer, Value x, const char* result);

}  // namespace debubble::models
