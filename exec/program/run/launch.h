#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "exec/core/communicator/communicator.h"
#include "exec/program/run/process_place.h"
#include "exec/program/run/same_run.h"

/// How the ranks of a run come to life: threads of this process, or one per process that
/// mpirun, srun, torchrun or this program has started.
namespace debubble::exec {

enum class Transporter { Threads, Mpi, Tcp };

/// `comm`: auto, local, mpi, tcp or nccl. `auto` takes threads in a process that nobody started
/// together with others, MPI under mpirun and where srun offers what MPI's processes find each
/// other by, else TCP; `nccl` takes processes as `auto` does, else those of TCP. Throws
/// InputError for another word.
Transporter transporter_of(const std::string& comm, const ProcessPlace& place);

/// Where ranks are to be found.
struct Meeting {
    ProcessPlace place;  ///< of this process
    std::string file;    ///< where ranks over TCP meet, instead of at MASTER_ADDR
    std::chrono::nanoseconds patience = std::chrono::minutes(5);
    /// What this process brings to the comparison, asked of all processes together once they have
    /// met.
    std::function<RunFacts(Communicator&)> facts = {};
    std::filesystem::path saves_in = {};  ///< the folder that they must share; empty: none
};

/// Runs `body` for each of the ranks that this process has. Throws what the first rank to
/// fail has thrown; InputError if processes do not run the same (check_same_run), do not
/// share the folder they save in (check_folder_is_shared), or the job has another number of ranks.
///
/// A rank that hangs in a computation cannot be stopped: if the threads have not ended
/// `patience` after the first of them failed, the process ends with that rank's sentence and
/// exit code 3.
void run_ranks(Transporter transporter, int ranks, const Meeting& meeting,
               const std::function<void(Communicator&)>& body);

/// Becomes `mpirun -n ranks` of this program with these arguments. Throws WorldError if
/// there is no mpirun.
[[noreturn]] void become_mpirun(int ranks, const std::vector<std::string>& arguments);

}  // namespace debubble::exec
