#include <cstdio>
#include <exception>
#include <string>

#include "exec/comm/mpi.h"
#include "tests/exec/comm_conformance.h"

namespace debubble::exec {
namespace {

/// Those that leave the job whole in one job, any other in one of its own.
int keep_promises(Communicator& communicator, const std::string& name) {
    int kept = 0;
    for (const ConformanceCase& promise : conformance_cases()) {
        if (name == "whole" ? promise.ends_the_job : promise.name != name) continue;
        try {
            promise.body(communicator);
            ++kept;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s: %s\n", promise.name.c_str(), error.what());
            communicator.abort(error.what());
            return 0;
        }
    }
    return kept;
}

}  // namespace
}  // namespace debubble::exec

/// One process of a job that keeps the promise named on the command line, or all that leave
/// the job "whole". Exit code 1 and a sentence if one is broken, or none is called so.
int main(int argc, char** argv) {
    try {
        const auto communicator = debubble::exec::connect_mpi();
        return debubble::exec::keep_promises(*communicator, argc > 1 ? argv[1] : "") == 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
