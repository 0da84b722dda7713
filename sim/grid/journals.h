#pragma once

#include <filesystem>
#include <vector>

#include "sim/grid/grid.h"

/// The journals of workers next to the results of a sweep: rows that are not merged yet.
namespace debubble::sim {

/// "results.csv.worker-3".
std::filesystem::path journal_of(const std::filesystem::path& results, int worker);

/// The rows of all journals next to the results, each point once, as far as they are written.
/// Throws InputError if one belongs to another grid or scenario.
std::vector<SweepRow> rows_in_journals(const std::filesystem::path& results, const Grid& grid,
                                       const Basis& basis);

/// Removes the journals, whose rows are in the results. A journal that a worker still has open may
/// be removed.
void remove_journals(const std::filesystem::path& results);

}  // namespace debubble::sim
