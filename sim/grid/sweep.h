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
    std::optional<int> jobs = {};             ///< number of threads; unset: one per core
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
    std::vector<SweepRow> rows;  ///< in grid order; of a worker only if it has merged them
    std::size_t total = 0;       ///< number of points that the grid admits
    std::size_t found = 0;       ///< number of those that an earlier run predicted
    std::size_t done = 0;        ///< number of those that are done
    bool finished() const { return done == total; }
};

/// Predicts every point of the grid that `results` does not have yet and appends each when it is
/// done. When all points are done, the file is put in grid order and its columns of duplicates and
/// of the Pareto frontier filled: an interrupted and resumed sweep leaves the same bytes as an
/// uninterrupted one. Rows in journals of workers (sim/grid/sweep.h) are merged, and the
/// journals removed at the end. Throws InputError if the file belongs to another grid or to another
/// scenario (sim/grid/grid.h), or if this scenario gives other rows than those in it.
SweepResult sweep(const Grid& grid, const std::filesystem::path& results,
                  const BatchOptions& options = {});

/// One of several processes that share a grid.
struct WorkerPlace {
    int index = 0;  ///< from 0
    int count = 1;
    friend bool operator==(const WorkerPlace&, const WorkerPlace&) = default;
};
inline constexpr int kMostWorkers = 100'000;

/// Reads "3/8", the fourth of eight. Throws InputError.
WorkerPlace parse_worker_place(const std::string& text);

/// The place given by a launcher: a task of a Slurm array (SLURM_ARRAY_TASK_ID and _COUNT), a rank
/// of Open MPI (OMPI_COMM_WORLD_RANK), MPICH (PMI_RANK) or srun (SLURM_PROCID), or a rank within a
/// task of an array; unset where there is one process. `variable` returns the value of an
/// environment variable or null. Throws InputError if one is not a number.
std::optional<WorkerPlace> launched_place(const std::function<const char*(const char*)>& variable);

/// One worker's part of a sweep that several processes, on any hosts with a shared folder, make
/// together. A worker appends its rows to a journal of its own (sim/grid/results_file.h): first
/// those of its share, every count-th point, then the points of no journal, so that the points of a
/// lost or late worker are predicted by others. Two workers may then predict the same point, which
/// is one row of the results. The first that knows all points merges the journals into `results` as
/// sweep() would have written it, byte for byte. Any of them can be restarted, with another count
/// too. Throws as sweep(), and WorldError if the same worker runs twice.
SweepResult sweep_as_worker(const Grid& grid, const std::filesystem::path& results,
                            WorkerPlace place, const BatchOptions& options = {});

}  // namespace debubble::sim
