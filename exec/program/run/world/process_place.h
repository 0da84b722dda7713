#pragma once

#include <chrono>
#include <string>

#include "exec/comm/tcp.h"

namespace debubble::exec {

/// The launcher that has started processes together.
enum class Starter { Nobody, Mpirun, Srun, Torchrun };

/// The place of this process among those that were started together.
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
/// The place that Open MPI, Hydra, Slurm, torchrun, or start_ranks (local_launcher.h), which sets
/// torchrun's variables, give in the environment; otherwise the place of a single process.
ProcessPlace process_place();

/// The job over TCP that the environment describes (docs/launching.md). With a `file`, ranks meet
/// there; those of one host without a secret of their own, or without MASTER_ADDR or MASTER_PORT,
/// meet by a file in a private folder; all others meet at MASTER_ADDR and MASTER_PORT with
/// DEBUBBLE_JOB_SECRET, which alone tells them from strangers. Throws InputError if something of
/// that is missing, WorldError if there is no private folder.
TcpJob tcp_job(const ProcessPlace& place, const std::string& file);

}  // namespace debubble::exec
