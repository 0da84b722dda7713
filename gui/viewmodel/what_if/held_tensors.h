#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/viewmodel/what_if/answer.h"

/// The tensors that a rank holds at its memory peak.
namespace debubble::gui {

struct HeldRow {
    std::string name;  ///< "activations", then "3F5", then "mlp.fc1.out, 6 of them"
    Bytes bytes;
    std::string stage;  ///< of the action that allocates it, as all below; empty for what is held
                        ///< throughout the step
    std::string micro_batch;
    std::string born;
    std::string dies;  ///< what frees it
    std::vector<HeldRow> parts;
};

struct HeldAtPeak {
    Rank rank;
    std::string when;           ///< "60.1 GiB at 0B0 mlp.act"
    Bytes bytes;                ///< of all rows
    std::vector<HeldRow> rows;  ///< by class, the largest first; so are their parts
};

/// The tensors of a plan's rank at its peak, by class and by allocating action. Tensors of one
/// action that differ only by their layer share a row. Plays the rank's step; thread-safe. Nothing
/// for a rank that the plan lacks. Throws Cancelled.
std::optional<HeldAtPeak> held_at_peak(const PredictedPlan& plan, Rank rank,
                                       const std::stop_token& stop = {});

}  // namespace debubble::gui
