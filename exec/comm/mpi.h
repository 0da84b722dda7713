#pragma once

#include <chrono>
#include <memory>

#include "exec/core/communicator/communicator.h"

namespace debubble::exec {

/// The communicator of all processes that mpirun or srun has started together, this one among them.
/// It loads the MPI module that lies next to the program, so that everything else runs on machines
/// without MPI; it throws WorldError where the module or its MPI is missing. Call it once per
/// process. MPI cannot be interrupted: where one of its calls does not return within the patience,
/// including the calls that start and finalise MPI, the process ends with exit code 3.
std::unique_ptr<Communicator> connect_mpi(
    std::chrono::nanoseconds patience = std::chrono::minutes(5));

}  // namespace debubble::exec
