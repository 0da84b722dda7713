#pragma once

#include <vector>

#include "models/graph/graph.h"

/// The saved tensors that are in the host's memory between the forward and the backward of a stage
/// (Megatron-Core's fine-grained activation offloading, core/pipeline_parallel/
/// fine_grained_activation_offload.py; TransformerEngine's cpu_offloading).
namespace debubble::models {

/// The tensors that one module of one layer sends away together.
struct OffloadGroup {
    std::vector<int> tensors;  ///< indices into StageGraph::tensors
    int layer = 0;
};

/// In the order of the forward. The last group of each module stays on the device and is not among
/// them, as do tensors of fewer elements than OffloadExtent::fewest_elements.
std::vector<OffloadGroup> offloads_of(const StageGraph& graph);

}  // namespace debubble::models
