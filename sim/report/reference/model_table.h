#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/execution/execution.h"
#include "models/graph/graph.h"
#include "models/network/architecture.h"

/// A network's parameters, work and memory, layer by layer: as a table, in words and as JSON.
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

/// Layers with the same description.
struct LayerKind {
    std::vector<int> layers;  ///< in order
    std::string words;        ///< "16 heads of 128, ffn 10944"

    std::string name() const;  ///< "layers 0 to 2"
};
/// The kinds of a network's layers, in the order of their first layers.
std::vector<LayerKind> layer_kinds(const models::Architecture& architecture);

/// The order of the layers, with a letter for each of those kinds and counts of repetitions: "12 (3
/// A, B)".
std::string layer_order(const models::Architecture& architecture);
/// "0 to 2, 4, 6 to 9", with `to` between the ends of a run; of many runs the first three.
std::string list_of(const std::vector<int>& layers, std::string_view to);

/// The JSON of `debubble model --json`: sums, kinds of layers, and the table's stages.
nlohmann::ordered_json model_json(const models::Architecture& architecture,
                                  const models::Execution& execution,
                                  const std::vector<StageFigures>& table);

/// The default tokens of a sample: the length that the network was made for, up to 128 Ki, since
/// some read millions.
std::int64_t usual_seq_length(const models::Architecture& architecture);

}  // namespace debubble::sim
