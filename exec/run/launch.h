#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "exec/comm/communicator.h"

/// How the ranks of a run come to life: threads of this process, or one per process that
/// mpirun or srun has started.
namespace debubble::exec {

/// This process among those that were started together.
struct ProcessPlace {
    int rank = 0;
    int size = 1;
    int on_this_host = 1;  ///< processes
    int rank_on_this_host = 0;
};
/// As Open MPI or Slurm tells it in the environment; one alone otherwise.
ProcessPlace process_place();

enum class Transporter { Threads, Processes };
/// `comm`: auto, local or mpi. Throws InputError for another word.
Transporter transporter_of(const std::string& comm, const ProcessPlace& place);

/// Runs `body` for each of the ranks that this process has. Throws what the first rank to
/// fail has thrown; InputError if the job has another number of ranks.
///
/// A rank that hangs in a computation cannot be stopped: if the threads have not ended
/// `patience` after the first of them failed, the process ends with that rank's sentence and
/// exit code 3.
void run_ranks(Transporter transporter, int ranks, std::chrono::nanoseconds patience,
               const std::function<void(Communicator&)>& body);

/// Becomes `mpirun -n ranks` of this program with these arguments. Throws WorldError if
/// there is no mpirun.
[[noreturn]] void become_mpirun(int ranks, const std::vector<std::string>& arguments);

}  // namespace debubble::exec
