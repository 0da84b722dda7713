#pragma once

#include <optional>
#include <vector>

#include "models/execution/execution.h"
#include "models/graph/graph.h"
#include "models/network/architecture.h"

/// A network's parameters, work and memory, layer by layer.
namespace debubble::sim {

/// The figures of one tensor-parallel rank and one microbatch.
struct LayerFigures {
    std::optional<int> layer;  ///< unset for embedding and head
    std::int64_t parameters = 0;
    double forward_flops = 0;  ///< FLOPs of GEMMs, as executed
    double backward_flops = 0;
    Bytes activations;  ///< bytes saved by the forward for this layer's own backward
    friend bool operator==(const LayerFigures&, const LayerFigures&) = default;
};

struct StageFigures {
    models::StageContent content;
    std::vector<LayerFigures> layers;  ///< parts that do not belong to a layer come first
    LayerFigures sum;                  ///< figures of the whole stage
    Bytes static_memory;  ///< parameters, gradients, optimizer at 18 bytes a parameter (bf16)
};

/// A table for uniform stages, the later ones a layer longer if the layers do not divide. Throws
/// InputError if the network cannot be cut this way.
std::vector<StageFigures> model_table(const models::Architecture& architecture,
                                      const models::Execution& execution, int stages);

struct ParameterSums {
    std::int64_t published = 0;  ///< parameters of the network, its vocabulary unpadded, tied
                                 ///< tensors once
    std::int64_t padded = 0;     ///< parameters with the vocabulary's tables padded
    std::int64_t listed = 0;     ///< parameters in the table: one tensor-parallel rank, with copies
                                 ///< of tied tensors
};

ParameterSums parameter_sums(const models::Architecture& architecture,
                             const models::Execution& execution,
                             const std::vector<StageFigures>& table);

}  // namespace debubble::sim
