#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/comm/transports.h"
#include "exec/core/communicator/communicator.h"
#include "exec/program/run/world/same_run.h"

/// The start of a run's ranks: as threads of this process, or one per process that mpirun, srun,
/// torchrun or this program has started.
namespace debubble::exec {

/// The launcher that has started processes together.
enum class Starter { Nobody, Mpirun, Srun, Torchrun };

/// The place of this process among those that a launcher has started together.
struct ProcessPlace {
    int rank = 0;
    int size = 1;
    int on_this_host = 1;  ///< processes on this host
    int rank_on_this_host = 0;
    Starter starter = Starter::Nobody;
    bool one_host = false;  ///< whether this host has all processes, by the launcher's word
    /// Whether the launcher tells MPI's processes of each other; srun may not.
    bool offers_pmi = true;
};
/// The place that Open MPI, Hydra, Slurm, torchrun, or start_ranks (below), which sets
/// torchrun's variables, give in the environment; otherwise the place of a single process.
ProcessPlace process_place();

/// The job over TCP that the environment describes (docs/launching.md). With a `file`, ranks meet
/// there; those of one host without a secret of their own, or without MASTER_ADDR or MASTER_PORT,
/// meet by a file in a private folder; all others meet at MASTER_ADDR and MASTER_PORT with
/// DEBUBBLE_JOB_SECRET, which alone tells them from strangers. Throws InputError if something of
/// that is missing, WorldError if there is no private folder.
TcpJob tcp_job(const ProcessPlace& place, const std::string& file);

// The start of a run's ranks: as threads of this process, or one per process that mpirun, srun,
// torchrun or this program has started.

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
    std::optional<std::filesystem::path> saves_in = {};  ///< the folder that ranks must share
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

/// Starts this program with these arguments once for each rank, all on this host, with the
/// environment of torchrun and a fresh secret; waits for all of them, and returns the exit code
/// of the first rank that failed, or 0.
///
/// A rank that ends by a signal, or in failure, ends the others, which have some seconds to say
/// why themselves. SIGINT, SIGTERM and SIGHUP reach all ranks as SIGTERM. When this process dies,
/// whatever the reason, its ranks get a SIGTERM.
///
/// Throws WorldError if a rank cannot be started or was ended by a signal. Call it before there
/// are threads.
int start_ranks(int ranks, const std::vector<std::string>& arguments);

/// Makes a communicator of devices' memory over the ranks of `host`.
using ConnectDevices =
    std::function<std::unique_ptr<Communicator>(Communicator& host, DeviceLanes& lanes)>;

/// `host` with `connect` in place of its on_device(): processes communicate over sockets or MPI,
/// and their GPUs by themselves. `host` must outlive it.
std::unique_ptr<Communicator> with_devices(Communicator& host, ConnectDevices connect);

/// A folder of this host that only this user can read or write, for messages between the user's
/// processes: the folder of the login (XDG_RUNTIME_DIR), else one among the temporary files. It is
/// made if it does not exist. Throws WorldError if another user owns it.
std::filesystem::path private_folder();

}  // namespace debubble::exec
