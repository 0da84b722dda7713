#pragma once

#include <string>
#include <vector>

#include "sim/plan/prediction.h"

/// The tables of a prediction's report, at most 100 columns wide.
namespace debubble::sim {

struct TableLine {
    std::string words;
    bool bad = false;  ///< marks a rank that exceeds the memory of its device
};

/// A heading, and a line for each kind of communication that occurs: its exposed and hidden time,
/// its bytes and their rate, means over the ranks. Empty where nothing is sent.
std::vector<TableLine> communication_table(const Prediction& prediction);

/// A heading, and a line for each rank. Neighbours that differ only in the size of their peak are
/// folded into one. Empty without ranks.
std::vector<TableLine> rank_table(const Prediction& prediction, Bytes memory_limit);

}  // namespace debubble::sim
