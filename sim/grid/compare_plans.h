#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/grid/sweep_row.h"

/// Comparisons between the plans of a grid.
namespace debubble::sim {

// Duplicate plans of a sweep: rows reached by different keys whose Programs have the same hash and
// whose figures are all equal, to the nanosecond and the byte. Rows with equal step times alone
// are not duplicates.

bool are_duplicates(const SweepRow& a, const SweepRow& b);

/// For each row the position of the first row in grid order that it duplicates; nothing for that
/// first row, and for impossible plans.
std::vector<std::optional<std::size_t>> duplicates_in(const std::vector<SweepRow>& rows);

/// The keys that make no difference between duplicates, with the values of `original`:
/// "training.recompute=none; parallel.sequence=false".
std::string difference_of(const SweepRow& duplicate, const SweepRow& original,
                          std::span<const std::string> keys);

/// Fills SweepRow::twin_of. True if that changes a row.
bool mark_duplicates(std::vector<SweepRow>& rows, std::span<const std::string> keys);

/// Days and cost of the median run; GPU hours where no price is given.
struct RunPoint {
    double days = 0;
    double cost = 0;
};
/// Precondition: the row has figures of the whole training.
RunPoint run_point(const SweepRow& row);

/// The rows that no other one beats in days without a higher cost, or in cost without taking
/// longer: the fastest first, each cheaper than the one before it. Rows without such figures are
/// left out.
std::vector<const SweepRow*> run_frontier(std::span<const SweepRow> rows);

// Plans that predictions cannot tell from the best: the ranges of measured steps of similar plans
// overlap with the best one's.

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
