#include <cstdio>
#include <cstdlib>
#include <exception>

#include "exec/comm/tcp.h"
#include "exec/program/run/local_launcher.h"
#include "exec/program/run/process_place.h"
#include "tests/exec/parity_processes.h"

/// The table of parity_test.cpp among processes that the program starts itself: the number of
/// ranks goes first.
int main(int argc, char** argv) {
    using namespace debubble::exec;
    const ProcessPlace place = process_place();
    const auto join = [&] { return connect_tcp(tcp_job(place, "")); };
    try {
        if (place.starter == Starter::Torchrun) return parity::run_parity(argc, argv, join);
        if (argc < 2) throw std::runtime_error("how many ranks?");
        return start_ranks(std::atoi(argv[1]), {argv + 2, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 3;
    }
}
