#pragma once

/// What a run tells of the routers of a network with experts.
namespace debubble::exec {

/// Of a step: what routers add to the loss, and the load of the layer where it is largest.
struct RouterMetrics {
    double aux_loss = 0;
    double z_loss = 0;
    double load = 1;  ///< see LayerLoad
};

/// The tokens of the expert with the most in a layer and step, over the mean of the layer's.
struct LayerLoad {
    int layer = 0;
    double load = 1;     ///< mean over the steps
    double largest = 1;  ///< of all steps
};

}  // namespace debubble::exec
