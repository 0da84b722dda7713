#include "tests/exec/support/comm/comm_conformance.h"

#include "tests/exec/support/comm/comm_promises.h"

namespace debubble::exec {

const std::vector<ConformanceCase>& conformance_cases() {
    static const std::vector<ConformanceCase> cases = [] {
        std::vector<ConformanceCase> all;
        for (const auto& promises : {message_promises, collective_promises, failure_promises})
            for (ConformanceCase& promise : promises()) all.push_back(std::move(promise));
        return all;
    }();
    return cases;
}

}  // namespace debubble::exec
