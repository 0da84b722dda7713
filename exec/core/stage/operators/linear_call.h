#pragma once

#include "exec/core/stage/operators/operator_call.h"

/// A GEMM with weights, as its passes and the chunked loss need it. Private to the folder.
namespace debubble::exec {

/// An operator's weights, or its biases, as one tensor, since they are contiguous. Empty if there
/// are none.
TensorView values_side_by_side(const OperatorCall& call, const std::vector<int>& parameters);
TensorView gradients_side_by_side(const OperatorCall& call, const std::vector<int>& parameters);

struct LinearCall {
    const OperatorCall& call;
    const op::Linear& product;
    WeightLayout layout;
    /// This rank's share of all weights of the operator together; in a backward-weight there may be
    /// only its shape.
    TensorView weight;
    TensorView bias;            ///< may be empty
    bool cuts_inputs = false;   ///< cut over ranks, so that their sums are added
    bool cuts_outputs = false;  ///< cut over ranks, so that gradients of their inputs are added

    LinearCall(const OperatorCall& operator_call, const op::Linear& roles);

    TensorView weight_gradient() const;
    TensorView bias_gradient() const;

    /// x [rows, inputs]; where sequence parallelism scattered it, gathered into the `buffer`, or
    /// into `own` if there is none.
    ConstTensorView gathered_input(std::optional<int> buffer, ArenaTensor& own) const;
    /// dx from dy [rows, outputs], summed over the tensor-parallel ranks.
    void input_gradient(ConstTensorView dy) const;
    /// dy of all tokens, which the input pass gathers where the output was scattered.
    TensorView output_gradient() const;
};

}  // namespace debubble::exec
