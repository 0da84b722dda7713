#pragma once

#include <vector>

#include "tests/exec/parity_job.h"

/// What is trained in every layout.
namespace debubble::exec::parity {

/// Every generator, on 2 and 4 ranks, with p, 2p and 2p + 1 microbatches where it can.
std::vector<Case> generator_cases();

/// Every kind of parallelism and their combinations, on 2 to 8 ranks.
std::vector<Case> layout_cases();

}  // namespace debubble::exec::parity
