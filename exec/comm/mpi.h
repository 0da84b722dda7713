#pragma once

#include <memory>

#include "exec/comm/communicator.h"

namespace debubble::exec {

/// The communicator of all processes that mpirun or srun has started together, this one
/// among them. Loads the MPI module beside the program, so that all else runs
/// on machines without MPI; throws WorldError where the module or its MPI is missing.
/// Once per process.
std::unique_ptr<Communicator> connect_mpi();

}  // namespace debubble::exec
