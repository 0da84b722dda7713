#pragma once

#include <optional>
#include <vector>

#include "models/architecture.h"
#include "models/execution.h"
#include "models/graph.h"

/// Where a network's parameters, work and memory are, layer by layer.
namespace debubble::sim {

/// Of one tensor-parallel rank and one microbatch.
struct LayerFigures {
    std::optional<int> layer;  ///< nothing: embedding and head
    std::int64_t parameters = 0;
    double forward_flops = 0;  ///< matrix work, as executed
    double backward_flops = 0;
    Bytes activations;  ///< kept from the forward for the backward
};

struct StageFigures {
    models::StageContent content;
    std::vector<LayerFigures> layers;  ///< what is not of a layer comes first
    LayerFigures sum;
    Bytes static_memory;  ///< parameters, gradients, optimizer at 18 bytes a parameter (bf16)
};

/// Uniform stages, the later ones a layer longer if they do not divide.
/// Throws InputError if the network cannot be cut so.
std::vector<StageFigures> model_table(const models::Architecture& architecture,
                                      const models::Execution& execution, int stages);

}  // namespace debubble::sim
