#pragma once

#include <functional>
#include <string>
#include <vector>

#include "exec/core/communicator/communicator.h"

/// The promises of every communicator. A case runs on every rank of a job of its own; it throws if
/// a promise is broken and returns if all were kept, the promised failures included.
namespace debubble::exec {

struct ConformanceCase {
    std::string name;
    std::function<void(Communicator&)> body;
    bool ends_the_job = false;  ///< a failure that all ranks are to see
};

const std::vector<ConformanceCase>& conformance_cases();

}  // namespace debubble::exec
