#pragma once

#include "tests/exec/support/parity/parity_job.h"

namespace debubble::exec::parity {

/// Expects that two steps of the case's job were the training of one rank, which this carries
/// out once for each kind of it: losses, norms, every gradient and weight, the order of actions.
void expect_training_of_one_rank(const Case& c, Result mine, bool to_the_bit = true);

/// The job on its device, and on the processor: the same losses, gradients and weights.
void expect_training_of_the_processor(const Case& c);

}  // namespace debubble::exec::parity
