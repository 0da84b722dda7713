#pragma once

#include <chrono>
#include <string>

#include "exec/comm/tcp.h"

namespace debubble::exec {

/// Who has started processes together.
enum class Starter { Nobody, Mpirun, Srun, Torchrun };

/// This process among those that were started together.
struct ProcessPlace {
    int rank = 0;
    int size = 1;
    int on_this_host = 1;  ///< processes
    int rank_on_this_host = 0;
    Starter starter = Starter::Nobody;
    bool one_host = false;   ///< has all of them, as their starter tells
    bool offers_pmi = true;  ///< the starter tells MPI's processes of each other; srun may not
};
/// As Open MPI, Hydra, Slurm, torchrun, or start_ranks (local_launcher.h), which sets torchrun's
/// variables, tells it in the environment; one alone otherwise.
ProcessPlace process_place();

/// What the environment says of a job over TCP (docs/launching.md). With a `file`, ranks meet
/// there; those of one host without a secret of their own, or without MASTER_ADDR or MASTER_PORT,
/// by a file in a private folder; all others at MASTER_ADDR and MASTER_PORT with
/// DEBUBBLE_JOB_SECRET, which alone tells them from strangers. Throws InputError where something of
/// that is not said, WorldError where a private folder cannot be had.
TcpJob tcp_job(const ProcessPlace& place, const std::string& file);

}  // namespace debubble::exec
