#pragma once

#include <functional>
#include <optional>
#include <string>

namespace debubble::sim {

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

}  // namespace debubble::sim
