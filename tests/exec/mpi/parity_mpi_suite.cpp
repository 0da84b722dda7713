#include "exec/comm/mpi.h"
#include "tests/exec/parity_processes.h"

/// The table of parity_test.cpp among processes of mpirun.
int main(int argc, char** argv) {
    return debubble::exec::parity::run_parity(argc, argv,
                                              [] { return debubble::exec::connect_mpi(); });
}
