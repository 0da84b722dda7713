#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/graph/graph.h"

/// Megatron-Core's strings of pipeline layouts (Megatron-LM d98e8a6,
/// core/transformer/pipeline_parallel_layer_layout.py): E is the embedding, t a layer, m one of
/// multi-token prediction, L the head with its loss, and | ends a stage. `(..)*n` repeats a group,
/// `x*n` a single character; groups are written out first and do not nest, and commas mean nothing.
///
///   Et*4|(t*4|)*14tmL    E and 4 layers, 14 stages of 4, and one of a layer, m and L
///
/// Stage s is chunk s / ranks of rank s mod ranks.
namespace debubble::models {

/// The units of one stage.
struct StageUnits {
    int layers = 0;
    int predictions = 0;  ///< layers of multi-token prediction
    bool embedding = false;
    bool loss = false;
    friend bool operator==(const StageUnits&, const StageUnits&) = default;
};

/// The units of every stage. Throws InputError, whose sentence names the place in the string, if it
/// is not such a string or its units are in no order that Megatron-Core takes.
std::vector<StageUnits> parse_layout(std::string_view layout);

/// Throws InputError if the stages cannot be divided evenly among `ranks`, or if multi-token
/// prediction is not in the last chunk of a rank.
void check_layout(const std::vector<StageUnits>& stages, int ranks);

int layers_of(const std::vector<StageUnits>& stages);
int predictions_of(const std::vector<StageUnits>& stages);
/// The stage of m, if that is not L's.
std::optional<int> prediction_stage_of(const std::vector<StageUnits>& stages);

/// The string of a cut into stages, in which identical stages are written once:
/// "Et*4|(t*4|)*14tmL". `predictions` are those of the network.
std::string layout_of(const std::vector<StageContent>& stages, int predictions);

}  // namespace debubble::models
