#pragma once

#include <chrono>
#include <memory>

#include "exec/core/communicator/communicator.h"

namespace debubble::exec {

/// The communicator of all processes that mpirun or srun has started together, this one
/// among them. Loads the MPI module beside the program, so that all else runs
/// on machines without MPI; throws WorldError where the module or its MPI is missing.
/// Once per process. MPI cannot be made to give up: where its calls do not return within the
/// patience, all of them to come or to part included, the process ends with exit code 3.
std::unique_ptr<Communicator> connect_mpi(
    std::chrono::nanoseconds patience = std::chrono::minutes(5));

}  // namespace debubble::exec
