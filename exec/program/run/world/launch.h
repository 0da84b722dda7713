#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "exec/core/communicator/communicator.h"
#include "exec/program/run/world/process_place.h"
#include "exec/program/run/world/same_run.h"

/// The start of a run's ranks: as threads of this process, or one per process that mpirun, srun,
/// torchrun or this program has started.
namespace debubble::exec {

enum class Transporter { Threads, Mpi, Tcp };

/// Chooses the transporter. `comm` is auto, local, mpi, tcp or nccl. `auto` gives threads in a
/// process that was started alone, MPI under mpirun and where srun lets MPI's processes find each
/// other, and otherwise TCP; `nccl` gives processes as `auto` does, and otherwise those of TCP.
/// Throws InputError for another word.
Transporter transporter_of(const std::string& comm, const ProcessPlace& place);

/// The place where ranks meet.
struct JobMeeting {
    ProcessPlace place;  ///< place of this process
    std::string file;    ///< file at which ranks over TCP meet, instead of MASTER_ADDR
    std::chrono::nanoseconds patience = std::chrono::minutes(5);
    /// Gives this process's facts for the comparison. It is called on all processes together once
    /// they have met.
    std::function<RunFacts(Communicator&)> facts = {};
    std::filesystem::path saves_in = {};  ///< the folder that ranks must share; empty: none
};

/// Runs `body` for each of the ranks that this process has. Throws the exception of the first rank
/// that fails; InputError if processes do not run the same (check_same_run), do not share the
/// folder in which they save (check_folder_is_shared), or the job has another number of ranks.
///
/// A rank that hangs in a computation cannot be stopped: if the threads have not ended
/// `patience` after the first of them failed, the process ends with that rank's sentence and
/// exit code 3.
void run_ranks(Transporter transporter, int ranks, const JobMeeting& meeting,
               const std::function<void(Communicator&)>& body);

/// Replaces this process by `mpirun -n ranks` of this program with these arguments. Throws
/// WorldError if there is no mpirun.
[[noreturn]] void become_mpirun(int ranks, const std::vector<std::string>& arguments);

}  // namespace debubble::exec
