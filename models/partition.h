#pragma once

#include <string>
#include <vector>

#include "models/graph.h"

/// How the layers of a network are laid on S = ranks x chunks virtual stages. The
/// first stage also holds the embedding, the last the head.
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

/// The same by stage: stage c ranks + r is chunk c of rank r. Throws InputError if a
/// stage would be empty ("6 layers cannot fill 8 stages").
std::vector<StageContent> uniform_stages(int layers, int ranks, int chunks);

/// Layers per stage as a person wrote them. Throws InputError if they are not
/// `stages` numbers with the sum `layers`, or if an inner stage is empty; the first
/// and the last may hold only the embedding or the head.
std::vector<StageContent> explicit_stages(const std::vector<int>& layers_per_stage, int layers,
                                          int stages);

/// Costs in any one unit, not negative.
struct LayerCosts {
    std::vector<double> layers;  ///< one per layer
    double embedding = 0;        ///< beside the layers of the first stage
    double head = 0;             ///< beside the layers of the last
};

/// Contiguous stages, each of at least one layer, whose greatest cost is the least
/// possible. Exact, by dynamic programming in stages x layers x log layers. Throws
/// InputError if there are fewer layers than stages.
std::vector<StageContent> balanced_stages(const LayerCosts& costs, int stages);

/// "stages hold 3, 3, 4, 4 layers" if they differ, else empty.
std::string uneven_note(const std::vector<StageContent>& stages);

}  // namespace debubble::models
