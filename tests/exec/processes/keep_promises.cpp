#include "tests/exec/processes/keep_promises.h"

#include <cstdio>
#include <exception>

#include "exec/comm/transports.h"
#include "tests/exec/support/comm/comm_conformance.h"

namespace debubble::exec {

int keep_promises(const std::string& name) {
    const auto communicator = connect_mpi();
    int kept = 0;
    for (const ConformanceCase& promise : conformance_cases()) {
        if (name == "whole" ? promise.ends_the_job : promise.name != name) continue;
        try {
            promise.body(*communicator);
            ++kept;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s: %s\n", promise.name.c_str(), error.what());
            communicator->abort(error.what());
            return 1;
        }
    }
    return kept > 0 ? 0 : 1;
}

}  // namespace debubble::exec
