#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/grid/grid.h"

namespace debubble::sim {

/// How a batch of predictions is carried out.
struct BatchOptions {
    int jobs = 0;                             ///< threads; 0: one per core
    const std::atomic<bool>* stop = nullptr;  ///< becomes true: finish what is begun, then return
    /// Called after each point, from any thread, one call at a time.
    std::function<void(std::size_t done, std::size_t total)> progress;
    /// Of a sweep: called with each row as it comes, those that were found first; one at a time.
    std::function<void(const SweepRow& row, bool found)> row;
    std::string program = {};  ///< of a sweep: the version that rows of one file have in common
};

struct SweepResult {
    std::vector<SweepRow> rows;  ///< in grid order
    std::size_t total = 0;       ///< points that the grid admits
    std::size_t found = 0;       ///< of them, done by an earlier run
    bool finished() const { return rows.size() == total; }
};

/// Predicts every point of the grid that `results` does not hold yet and
/// appends each as it comes. When all are there, the file is put in grid order
/// and its columns of twins and of the Pareto frontier filled: an interrupted and resumed sweep
/// leaves the same bytes as one that ran through. Throws InputError if the file belongs to another
/// grid or to another scenario (sim/grid/sweep_basis.h), or if what it holds is no longer what this
/// scenario gives.
SweepResult sweep(const Grid& grid, const std::filesystem::path& results,
                  const BatchOptions& options = {});

}  // namespace debubble::sim
