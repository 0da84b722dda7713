#pragma once

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

/// Cross-entropy, in place: logits [tokens, share of the vocabulary] become their gradient. The
/// tensors between the steps are fp32 [tokens], targets int32 [tokens].
class LossKernels {
public:
    /// Computes for this share the largest logit, the sum of e^(logit - largest), and the target's
    /// logit - largest. The content of `logits` then belongs to the kernels until it has become the
    /// gradient.
    virtual void cross_entropy_softmax(const CrossEntropy& loss, ConstTensorView targets,
                                       TensorView logits, TensorView largest, TensorView sum,
                                       TensorView target) = 0;
    /// The same for the largest logit of all shares; sum and target are then to be summed over the
    /// tensor-parallel ranks.
    virtual void cross_entropy_rescale(const CrossEntropy& loss, ConstTensorView targets,
                                       ConstTensorView own_largest, ConstTensorView largest,
                                       TensorView sum, TensorView target) = 0;
    /// total (fp64 [1]) += the sum of the tokens' losses.
    virtual void cross_entropy_loss(const CrossEntropy& loss, ConstTensorView targets,
                                    ConstTensorView sum, ConstTensorView target,
                                    TensorView total) = 0;
    /// own_largest is empty where the share is the whole vocabulary.
    virtual void cross_entropy_gradient(const CrossEntropy& loss, ConstTensorView targets,
                                        ConstTensorView own_largest, ConstTensorView largest,
                                        ConstTensorView sum, TensorView logits) = 0;
    /// total (fp64 [1]) += the number of rows whose largest logit is the target's.
    virtual void count_correct(const CrossEntropy& loss, ConstTensorView targets,
                               ConstTensorView logits, TensorView total) = 0;

protected:
    ~LossKernels() = default;
};

}  // namespace debubble::exec
