#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/graph/graph.h"

/// The assignment of a network's layers to S = ranks x chunks virtual stages. The first stage also
/// holds the embedding, the last the head.
namespace debubble::models {

/// Colossal-AI's partition_uniform: every chunk has layers / chunks layers, cut into
/// one part per rank, the later ranks taking one more where it does not divide.
/// Where chunks do not divide the layers (an error there) the later chunks take one
/// more. parts[rank][chunk] is layers [start, end).
struct LayerRange {
    int start = 0;
    int end = 0;
    friend bool operator==(const LayerRange&, const LayerRange&) = default;
};
std::vector<std::vector<LayerRange>> partition_uniform(int layers, int ranks, int chunks);

/// The same partition by stage: stage c ranks + r is chunk c of rank r. Throws InputError if a
/// stage would be empty ("6 layers cannot fill 8 stages").
std::vector<StageContent> uniform_stages(int layers, int ranks, int chunks);

/// Stages that begin with a layer which sees the keys that a layer before it has chosen begin a few
/// layers earlier, at that one, as far as the stage before keeps a layer.
std::vector<StageContent> begun_at_choices(std::vector<StageContent> stages, const Layers& layers);

/// The stages of a list of layers per stage that a person wrote. Throws InputError if the list does
/// not have `stages` numbers with the sum `layers`. The first and the last may hold only the
/// embedding or the head, and an inner one nothing: it passes on what it gets.
std::vector<StageContent> explicit_stages(const std::vector<int>& layers_per_stage, int layers,
                                          int stages);

/// The stages with the network's multi-token prediction in one of them that has no head.
std::vector<StageContent> with_predictions_in(int stage, std::vector<StageContent> stages);
/// The residual streams that a stage sends on, as an activation or as a gradient, where the network
/// has so many layers of multi-token prediction.
int streams_sent(const std::vector<StageContent>& stages, int producer, bool gradient,
                 int mtp_layers);

/// Costs in any unit, not negative.
struct LayerCosts {
    std::vector<double> layers;  ///< one per layer
    double embedding = 0;        ///< cost of the first stage in addition to its layers
    double head = 0;             ///< cost of the last stage in addition to its layers
};

/// Contiguous stages, each of at least one layer, whose greatest cost is as small as possible.
/// Exact, by dynamic programming in stages x layers x log layers. Throws InputError if there are
/// fewer layers than stages.
std::vector<StageContent> balanced_stages(const LayerCosts& costs, int stages);

/// The same where ranks hold several stages, or several ranks hold one: the greatest sum over the
/// stages of a rank is as small as moves of a layer from a stage to another make it, from
/// balanced_stages() and from equal numbers of layers on. Of equal ones, that whose ranks and
/// stages differ least.
std::vector<StageContent> balanced_over_ranks(const LayerCosts& costs,
                                              const std::vector<std::vector<int>>& stages_of_rank);

/// The note "stages hold 3, 3, 4, 4 layers" if they differ, else empty.
std::string uneven_note(const std::vector<StageContent>& stages);

// Megatron-Core's strings of pipeline layouts (Megatron-LM d98e8a6,
// core/transformer/pipeline_parallel_layer_layout.py): E is the embedding, t a layer, m one of
// multi-token prediction, L the head with its loss, and | ends a stage. `(..)*n` repeats a group,
// `x*n` a single character; groups are written out first and do not nest, and commas mean nothing.
// Et*4|(t*4|)*14tmL E and 4 layers, 14 stages of 4, and one of a layer, m and L Stage s is chunk s
// / ranks of rank s mod ranks.

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
