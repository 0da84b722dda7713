#pragma once

#include <string>
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

}  // namespace debubble::models
