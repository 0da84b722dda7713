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
};
/// As Open MPI, Hydra, Slurm, torchrun, or start_ranks (local_launcher.h), which sets torchrun's
/// variables, tells it in the environment; one alone otherwise.
ProcessPlace process_place();

/// What the environment says of a job over TCP: MASTER_ADDR and MASTER_PORT, and what tells the
/// job from others. With a `file`, ranks meet there. Throws InputError where neither is said.
TcpJob tcp_job(const ProcessPlace& place, const std::string& file);

}  // namespace debubble::exec
