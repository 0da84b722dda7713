#pragma once

#include "exec/cpu/loops/operands.h"

/// Steps of PyTorch's optimizers, with its definitions and defaults, element by element, so that a
/// step on shards is a step on the whole. Shapes: all operands of a step have the same.
namespace debubble::exec::loops {

/// `step` counts from 1; both moments are zero before the first. The step is made with the gradient
/// times `factor`; weight decay pulls parameters to `decays_to`.
void adam_step(const AdamOptions& options, std::int64_t step, double factor, double decays_to,
               In gradient, Out parameter, Out first_moment, Out second_moment);

/// `velocity` may be empty if there is no momentum; the first step (1) overwrites it.
void sgd_step(const SgdOptions& options, std::int64_t step, double factor, double decays_to,
              In gradient, Out parameter, Out velocity);

/// The sum of squares, in double: parts of the global norm are added before the root.
double sum_of_squares(In gradient);

void scale(double factor, Out x);

}  // namespace debubble::exec::loops
