#pragma once

#include <string>
#include <vector>

#include "sim/plan/prediction.h"

/// The tables of a prediction's report, at most 100 columns wide.
namespace debubble::sim {

struct TableLine {
    std::string words;
    bool bad = false;  ///< says of a rank that it needs more memory than there is
};

/// A heading, and a line for each kind of communication that there is: what of it is exposed and
/// hidden, its bytes and their rate, means over the ranks. Empty where nothing is sent.
std::vector<TableLine> communication_table(const Prediction& prediction);

/// A heading, and a line for each rank. Neighbours that are alike but for the size of their peak
/// are folded into one. Empty without ranks.
std::vector<TableLine> rank_table(const Prediction& prediction, Bytes memory_limit);

}  // namespace debubble::sim
