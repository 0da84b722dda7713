#pragma once

#include <optional>

#include "tests/exec/support/parity/parity_job.h"

namespace debubble::exec::parity {

/// Collective over the processes of `world`, as many as the case has ranks: trains two steps
/// and brings what each rank holds to rank 0; elsewhere nothing.
std::optional<Result> train_together(Communicator& world, const Case& c);

}  // namespace debubble::exec::parity
