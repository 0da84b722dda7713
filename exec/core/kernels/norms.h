#pragma once

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

/// Normalisation over the last dimension: x, y [tokens, hidden], weight and bias [hidden].
///
/// LayerNorm (Ba, Kiros, Hinton 2016): y = (x - mean) / sqrt(variance + eps) * weight + bias. The
/// bias and its gradient may be empty.
/// RMSNorm (Zhang and Sennrich 2019): y = x / sqrt(mean(x^2) + eps) * weight. Its x and dx may have
/// more columns than y: the first of them are those of y, and the others are not touched.
/// The backward reads the fp32 statistics: [tokens, 2] of LayerNorm (mean, 1 / deviation), [tokens]
/// of RMSNorm (the factor by which a token is scaled).
class NormKernels {
public:
    virtual void layer_norm_forward(double eps, ConstTensorView x, ConstTensorView weight,
                                    ConstTensorView bias, TensorView y, TensorView statistics) = 0;
    virtual void layer_norm_backward_input(ConstTensorView dy, ConstTensorView x,
                                           ConstTensorView weight, ConstTensorView statistics,
                                           TensorView dx, Write write) = 0;
    virtual void layer_norm_backward_weight(ConstTensorView dy, ConstTensorView x,
                                            ConstTensorView statistics, TensorView dweight,
                                            TensorView dbias) = 0;
    virtual void rms_norm_forward(double eps, ConstTensorView x, ConstTensorView weight,
                                  TensorView y, TensorView statistics) = 0;
    virtual void rms_norm_backward_input(ConstTensorView dy, ConstTensorView x,
                                         ConstTensorView weight, ConstTensorView statistics,
                                         TensorView dx, Write write) = 0;
    virtual void rms_norm_backward_weight(ConstTensorView dy, ConstTensorView x,
                                          ConstTensorView statistics, TensorView dweight) = 0;

    /// sum = x + branch; y = norm(sum). y may be branch.
    virtual void residual_layer_norm_forward(double eps, ConstTensorView x, ConstTensorView branch,
                                             ConstTensorView weight, ConstTensorView bias,
                                             TensorView sum, TensorView y,
                                             TensorView statistics) = 0;
    virtual void residual_rms_norm_forward(double eps, ConstTensorView x, ConstTensorView branch,
                                           ConstTensorView weight, TensorView sum, TensorView y,
                                           TensorView statistics) = 0;
    /// dx = the norm's gradient, plus `through` (the gradient that reaches x past the norm) unless
    /// that is empty; dx may be `through`. Adds into dweight and dbias.
    virtual void layer_norm_backward(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                     ConstTensorView statistics, ConstTensorView through,
                                     TensorView dx, TensorView dweight, TensorView dbias) = 0;
    virtual void rms_norm_backward(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                   ConstTensorView statistics, ConstTensorView through,
                                   TensorView dx, TensorView dweight) = 0;

protected:
    ~NormKernels() = default;
};

}  // namespace debubble::exec
