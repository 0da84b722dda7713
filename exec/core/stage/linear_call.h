#pragma once

#include "exec/core/stage/operator_call.h"

/// A product with weights, as its passes and the chunked loss need it. Private to the folder.
namespace debubble::exec {

struct LinearCall {
    const OperatorCall& call;
    WeightLayout layout;
    /// Of all the operator's parameters together, this rank's share; in a backward-weight their
    /// shape may be all that there is.
    TensorView weight;
    TensorView bias;  ///< may be empty
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    std::int64_t tokens = 0;  ///< rows of the product
    bool cuts_inputs = false;
    bool cuts_outputs = false;

    explicit LinearCall(const OperatorCall& operator_call);

    bool gathers_input() const { return call.scattered() && cuts_outputs; }
    bool scatters_output() const { return call.scattered() && cuts_inputs; }
    TensorView weight_gradient() const;
    TensorView bias_gradient() const;

    /// x [tokens, inputs]; where sequence parallelism scattered it, gathered into the tensor of
    /// `uses` whose name ends so, or into `own`.
    ConstTensorView gathered_input(const std::vector<int>& uses, const char* suffix,
                                   ArenaTensor& own) const;
    /// dx from dy [tokens, outputs], summed over the tensor-parallel ranks.
    void input_gradient(ConstTensorView dy) const;
};

}  // namespace debubble::exec
