#pragma once

#include <filesystem>

#include "sim/grid/sweep.h"
#include "sim/grid/worker_place.h"

namespace debubble::sim {

/// One worker's part of a sweep that several processes, on any hosts with a shared folder, make
/// together. A worker appends its rows to a journal of its own (sim/grid/journals.h): first those
/// of its share, every count-th point, then the points of no journal, so that the points of a lost
/// or late worker are predicted by others. Two workers may then predict the same point, which is
/// one row of the results. The first that knows all points merges the journals into `results` as
/// sweep() would have written it, byte for byte. Any of them can be restarted, with another count
/// too. Throws as sweep(), and WorldError if the same worker runs twice.
SweepResult sweep_as_worker(const Grid& grid, const std::filesystem::path& results,
                            WorkerPlace place, const BatchOptions& options = {});

}  // namespace debubble::sim
