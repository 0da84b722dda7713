#pragma once

#include <cstdint>

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

/// Steps of PyTorch's optimizers, with its definitions and defaults, element by element, so that a
/// step on shards is a step on the whole. All operands of a step have the same shape.
///
/// `step` counts from 1; moments and velocity are zero before the first. `gradient_factor` undoes
/// loss scaling and clips. Weight decay pulls parameters to `decays_to`: to 0, or to 1 where a
/// norm's weight stands for 1 + w. `main` is the parameter that the optimizer steps, `parameter`
/// its copy in the compute type, which is written too; `parameter` is empty where main is of that
/// type.
class OptimizerKernels {
public:
    virtual void adam_step(const AdamOptions& options, std::int64_t step, double gradient_factor,
                           double decays_to, ConstTensorView gradient, TensorView main,
                           TensorView first_moment, TensorView second_moment,
                           TensorView parameter) = 0;
    /// `velocity` may be empty where there is no momentum.
    virtual void sgd_step(const SgdOptions& options, std::int64_t step, double gradient_factor,
                          double decays_to, ConstTensorView gradient, TensorView main,
                          TensorView velocity, TensorView parameter) = 0;
    /// total (fp64 [1]) += the sum of squares; not finite if an element is not.
    virtual void sum_of_squares(ConstTensorView gradient, TensorView total) = 0;

protected:
    ~OptimizerKernels() = default;
};

}  // namespace debubble::exec
