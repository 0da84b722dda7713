#pragma once

#include "exec/cpu/fixed_order/operands.h"

/// Steps of PyTorch's optimizers, with its definitions and defaults, element by element, so that a
/// step on shards is a step on the whole. Shapes: all operands of a step have the same.
namespace debubble::exec::fixed_order {

/// `step` counts from 1; both moments are zero before the first. The step is made with the gradient
/// times `factor`.
template <Real T>
void adam_step(const AdamOptions& options, std::int64_t step, double factor, In<T> gradient,
               Out<T> parameter, Out<T> first_moment, Out<T> second_moment);

/// `velocity` may be empty if there is no momentum; the first step (1) overwrites it.
template <Real T>
void sgd_step(const SgdOptions& options, std::int64_t step, double factor, In<T> gradient,
              Out<T> parameter, Out<T> velocity);

/// The sum of squares, in double: parts of the global norm are added before the root.
template <Real T>
double sum_of_squares(View<const T> gradient);

template <Real T>
void scale(double factor, Out<T> x);

}  // namespace debubble::exec::fixed_order
