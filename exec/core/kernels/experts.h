#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exec/core/tensor.h"

namespace debubble::exec {

/// A mixture of experts. A router chooses some experts for each token, which they go to as rows:
/// `weights` are fp32 [tokens, experts], zero where a token does not go; rows [tokens x chosen,
/// hidden] lie one expert's after the other's, each expert's in the order of their tokens.
class ExpertKernels {
public:
    /// weights = softmax over each token's `chosen` largest logits [tokens, experts], the first of
    /// equal ones.
    virtual void route_forward(std::int64_t chosen, ConstTensorView logits, TensorView weights) = 0;
    /// dlogits: fp32, may be dweights.
    virtual void route_backward_input(ConstTensorView dweights, ConstTensorView weights,
                                      TensorView dlogits) = 0;
    /// [experts + 1]: where each expert's rows begin, and where all end. Waits for the device.
    virtual std::vector<std::int64_t> first_rows_of_experts(ConstTensorView weights) = 0;

    /// rows = copies of the tokens x [tokens, hidden].
    virtual void permute_forward(ConstTensorView weights, ConstTensorView x, TensorView rows) = 0;
    /// dx = the sum of a token's rows.
    virtual void permute_backward_input(ConstTensorView weights, ConstTensorView drows,
                                        TensorView dx) = 0;

    /// Each expert's product with its own rows, without biases: those of expert e are
    /// [first_rows[e], first_rows[e + 1]) of x [rows, inputs] and y [rows, outputs], and its weight
    /// is the e-th [outputs, inputs] of `weights`. Experts without rows are left out.
    virtual void experts_forward(std::span<const std::int64_t> first_rows, ConstTensorView x,
                                 ConstTensorView weights, TensorView y) = 0;
    virtual void experts_backward_input(std::span<const std::int64_t> first_rows,
                                        ConstTensorView dy, ConstTensorView weights,
                                        TensorView dx) = 0;
    virtual void experts_backward_weight(std::span<const std::int64_t> first_rows,
                                         ConstTensorView x, ConstTensorView dy,
                                         TensorView dweights) = 0;

    /// y = the sum of a token's rows, each times its weight.
    virtual void combine_forward(ConstTensorView weights, ConstTensorView rows, TensorView y) = 0;
    virtual void combine_backward_input(ConstTensorView weights, ConstTensorView dy,
                                        ConstTensorView rows, TensorView drows,
                                        TensorView dweights) = 0;

protected:
    ~ExpertKernels() = default;
};

}  // namespace debubble::exec
