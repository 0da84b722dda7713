#pragma once

#include <cstdint>
#include <span>

#include "exec/core/tensor.h"

namespace debubble::exec {

/// A mixture of experts. A router (router.h) chooses some experts for each token, and the token
/// goes to each of them as a row: `weights` are fp32 [tokens, experts], zero for experts that a
/// token does not go to; rows [tokens x chosen, hidden] are grouped by expert, and those of an
/// expert have the order of their tokens.
class ExpertKernels {
public:
    /// first_rows = int32 [experts + 1]: the first row of each expert, and the end of all rows.
    virtual void first_rows_of_experts(ConstTensorView weights, TensorView first_rows) = 0;

    /// rows = copies of the tokens x [tokens, hidden].
    virtual void permute_forward(ConstTensorView weights, ConstTensorView x, TensorView rows) = 0;
    /// dx = the sum of a token's rows.
    virtual void permute_backward_input(ConstTensorView weights, ConstTensorView drows,
                                        TensorView dx) = 0;

    /// The product of each expert with its own rows, without biases: the rows of expert e are
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
    /// drows = dy of the row's token times its weight; dweights = the dot product of dy and the
    /// row. Either is left out if it is empty, and `rows` may then be empty with dweights. Where
    /// tokens are weighed on their way to the experts, these are that way and its gradient.
    virtual void combine_backward_input(ConstTensorView weights, ConstTensorView dy,
                                        ConstTensorView rows, TensorView drows,
                                        TensorView dweights) = 0;

protected:
    ~ExpertKernels() = default;
};

}  // namespace debubble::exec
