#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/grid/grid.h"

namespace debubble::sim {

/// The options of a batch of predictions.
struct BatchOptions {
    int jobs = 0;                             ///< number of threads; 0: one per core
    const std::atomic<bool>* stop = nullptr;  ///< when true, points in progress are finished, then
                                              ///< the batch returns
    /// Called after each point, from any thread, one call at a time.
    std::function<void(std::size_t done, std::size_t total)> progress;
    /// Receives the choices of each point with chosen recomputation; from any thread, for several
    /// points at once.
    ChoicesDone choosing = {};
    /// For a sweep: called with each row as it arrives, those of an earlier run first; one call at
    /// a time.
    std::function<void(const SweepRow& row, bool found)> row;
    std::optional<double> most_days = {};  ///< for a search: maximum for the whole training
    std::string program = {};  ///< for a sweep: the program version of all rows of a file
};

struct SweepResult {
    std::vector<SweepRow> rows;  ///< in grid order
    std::size_t total = 0;       ///< number of points that the grid admits
    std::size_t found = 0;       ///< number of those that an earlier run predicted
    bool finished() const { return rows.size() == total; }
};

/// Predicts every point of the grid that `results` does not have yet and appends each when it is
/// done. When all points are done, the file is put in grid order and its columns of duplicates and
/// of the Pareto frontier filled: an interrupted and resumed sweep leaves the same bytes as an
/// uninterrupted one. Rows in journals of workers (sim/grid/sweep_workers.h) are merged, and the
/// journals removed at the end. Throws InputError if the file belongs to another grid or to another
/// scenario (sim/grid/sweep_basis.h), or if this scenario gives other rows than those in it.
SweepResult sweep(const Grid& grid, const std::filesystem::path& results,
                  const BatchOptions& options = {});

}  // namespace debubble::sim
