#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sim/grid/sweep_row.h"

/// Plans that predictions cannot rank: the ranges in which measured steps of such plans lie overlap
/// with the best one's.
namespace debubble::sim {

struct NotApart {
    std::size_t plans = 0;  ///< besides the best
    /// The best, and the fastest of them that are cut or scheduled otherwise: three at most.
    std::vector<const SweepRow*> worth_measuring;
};

/// Precondition: the rows fit, none is another's twin, and the fastest comes first. Nothing where
/// the best has no range.
NotApart not_apart_from_best(std::span<const SweepRow* const> fastest_first,
                             std::span<const std::string> keys);

/// "23 plans are not apart from the best: ... worth measuring: ..." with a line for each; empty if
/// there are none. `of` says what plans they are among: "that fit".
std::string not_apart_text(const NotApart& plans, std::span<const std::string> keys,
                           const std::string& of);

}  // namespace debubble::sim
