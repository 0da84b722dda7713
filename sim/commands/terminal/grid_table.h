#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/grid/grid.h"

/// Plans of a grid, as `sweep` and `search` print them.
namespace debubble::sim {

/// A line for each row: swept keys, throughput, and the figures that distinguish plans: bubble,
/// exposed communication as a share of the step, memory held and left. Features that are
/// unvalidated in some of the rows are named in their lines, those that are unvalidated in all rows
/// below.
std::string table_of(std::span<const SweepRow* const> rows, const Grid& grid);

/// The plans of days against cost, the fastest first; empty unless the whole training is requested.
std::string run_frontier_text(std::span<const SweepRow> rows, const Grid& grid);

/// A table of the best row for each value of a swept key, and in a sentence the values for which no
/// plan fits. `best` is in the order of the values, null where none fits.
std::string best_by_text(std::span<const SweepRow* const> best, const Grid& grid, std::size_t key);

/// The number of points whose schedule the framework's software lacks, in a sentence; empty if
/// there are none.
std::string lacking_text(std::size_t points);

/// The number of fitting rows that are duplicates of others, and for how many of them each key
/// makes no difference: one sentence, or nothing if there are none.
std::string duplicates_text(const std::vector<SweepRow>& rows, std::span<const std::string> keys);

}  // namespace debubble::sim
