#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sim/grid/sweep_row.h"

/// Plans that predictions cannot tell from the best: the ranges of measured steps of similar plans
/// overlap with the best one's.
namespace debubble::sim {

struct NotApart {
    std::size_t plans = 0;  ///< besides the best
    /// The best, and the fastest of the plans with another partition or schedule: three at most.
    std::vector<const SweepRow*> worth_measuring;
};

/// Precondition: the rows fit, none is another's duplicate, and the fastest comes first. Nothing
/// where the best has no range.
NotApart not_apart_from_best(std::span<const SweepRow* const> fastest_first,
                             std::span<const std::string> keys);

/// "23 others of the plans ... cannot be told from the best: ... worth measuring: ..." with a line
/// for each; empty if there are none. `of` names the plans that they are among: "that fit".
std::string not_apart_text(const NotApart& plans, std::span<const std::string> keys,
                           const std::string& of);

}  // namespace debubble::sim
