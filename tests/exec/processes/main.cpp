#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "exec/comm/transports.h"
#include "exec/program/run/world/launch.h"
#include "tests/exec/processes/keep_promises.h"
#include "tests/exec/processes/parity_processes.h"

namespace debubble::exec {
namespace {

/// A process of a job of TCP, or with the number of ranks the program that starts one for each.
int tcp(int argc, char** argv) {
    const ProcessPlace place = process_place();
    if (place.starter == Starter::Torchrun)
        return parity::run_parity(argc, argv, [&] { return connect_tcp(tcp_job(place, "")); });
    if (argc < 2) throw std::runtime_error("how many ranks?");
    std::vector<std::string> words{"tcp"};
    words.insert(words.end(), argv + 2, argv + argc);
    return start_ranks(std::atoi(argv[1]), words);
}

int run(int argc, char** argv) {
    const std::string job = argc > 1 ? argv[1] : "";
    if (job == "tcp") return tcp(argc - 1, argv + 1);
    if (job == "mpi") return parity::run_parity(argc - 1, argv + 1, [] { return connect_mpi(); });
    if (job == "promises" && argc > 2) return keep_promises(argv[2]);
    throw std::runtime_error(
        "promises NAME, mpi [OPTION]... [SECONDS] or tcp RANKS [OPTION]... [SECONDS]?");
}

}  // namespace
}  // namespace debubble::exec

/// Jobs of processes: the table of parity_test.cpp among those that the program starts itself (tcp)
/// or that mpirun has started (mpi), and what communicators promise among the latter (promises).
int main(int argc, char** argv) {
    try {
        return debubble::exec::run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 3;
    }
}
