#pragma once

#include "models/network/vision_tower.h"

namespace debubble::models {

/// FLOPs of the images of a sample, forward and backward; of what is not trained, forward alone.
/// `adapters`: adapters of the language model alone are trained.
double tower_flops_per_sample(const VisionTower& tower, bool adapters);

}  // namespace debubble::models
