#pragma once

#include "exec/cpu/reference/operands.h"

/// Steps of PyTorch's optimizers, with its definitions and defaults, element by element, so
/// that a step on shards is a step on the whole. Shapes: all operands of a step are alike.
namespace debubble::exec::reference {

/// torch.optim.Adam and, with `decoupled`, AdamW (Kingma and Ba 2015; Loshchilov and
/// Hutter 2019). AdamW's default weight decay is 0.01, Adam's is 0.
struct AdamOptions {
    double lr = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    bool decoupled = false;  ///< decays the weight itself, not through the gradient
};

/// `step` counts from 1; both moments are zero before the first.
template <Real T>
void adam_step(const AdamOptions& options, std::int64_t step, In<T> gradient, Out<T> parameter,
               Out<T> first_moment, Out<T> second_moment);

/// torch.optim.SGD.
struct SgdOptions {
    double lr = 1e-3;
    double momentum = 0;
    double dampening = 0;
    double weight_decay = 0;
    bool nesterov = false;
};

/// `velocity` may be empty if there is no momentum; the first step (1) overwrites it.
template <Real T>
void sgd_step(const SgdOptions& options, std::int64_t step, In<T> gradient, Out<T> parameter,
              Out<T> velocity);

/// The sum of squares, in double: parts of the global norm are added before the root.
template <Real T>
double sum_of_squares(View<const T> gradient);

/// torch.nn.utils.clip_grad_norm_: what gradients of this global norm are multiplied by.
double clip_factor(double norm, double max_norm);

template <Real T>
void scale(double factor, Out<T> x);

}  // namespace debubble::exec::reference
