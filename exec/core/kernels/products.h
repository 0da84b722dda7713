#pragma once

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

/// y = x W + b. Shapes: x [tokens, inputs], y [tokens, outputs], bias [outputs] or empty. The
/// weight is [outputs, inputs] in Hugging Face's Linear (Llama, ViT) and [inputs, outputs] in its
/// Conv1D (GPT-2).
class ProductKernels {
public:
    virtual void linear_forward(WeightLayout layout, ConstTensorView x, ConstTensorView weight,
                                ConstTensorView bias, TensorView y) = 0;
    /// dx = or += dy W^T. Adding is for layers that share an input (query, key, value).
    virtual void linear_backward_input(WeightLayout layout, ConstTensorView dy,
                                       ConstTensorView weight, TensorView dx, Write write) = 0;
    /// dweight += x^T dy; dbias += the sum of dy over the tokens, unless dbias is empty.
    virtual void linear_backward_weight(WeightLayout layout, ConstTensorView x, ConstTensorView dy,
                                        TensorView dweight, TensorView dbias) = 0;

    /// y += bias in every row: the bias follows a sum over tensor-parallel ranks.
    virtual void add_bias(ConstTensorView bias, TensorView y) = 0;
    /// dbias += the sum of dy over the tokens.
    virtual void bias_backward_weight(ConstTensorView dy, TensorView dbias) = 0;

    /// wide = x W + b, which the backward reads; y = activation(wide).
    virtual void linear_activation_forward(WeightLayout layout, Nonlinearity kind,
                                           ConstTensorView x, ConstTensorView weight,
                                           ConstTensorView bias, TensorView wide, TensorView y) = 0;
    /// Computes dwide, where dy is the gradient of a product whose input was activation(wide).
    virtual void linear_activation_backward_input(WeightLayout layout, Nonlinearity kind,
                                                  ConstTensorView dy, ConstTensorView weight,
                                                  ConstTensorView wide, TensorView dwide) = 0;

protected:
    ~ProductKernels() = default;
};

}  // namespace debubble::exec
