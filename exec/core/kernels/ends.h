#pragma once

#include <cstdint>

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

/// The operators at the two ends of a network: embeddings, patches of images, and the loss.
namespace debubble::exec {

/// Look-ups of rows in tables. `tokens` are int32 ids; y and dy are [tokens, hidden].
class EmbeddingKernels {
public:
    /// y = the tokens' rows of table [entries, hidden], which holds the vocabulary from
    /// `first_entry` on. The rows of tokens that it does not hold become zero.
    virtual void token_embedding_forward(ConstTensorView tokens, std::int64_t first_entry,
                                         ConstTensorView table, TensorView y) = 0;
    virtual void token_embedding_backward_weight(ConstTensorView tokens, std::int64_t first_entry,
                                                 ConstTensorView dy, TensorView dtable) = 0;

    /// y = x + the rows of table [positions, hidden] from `first_position` on. x, y [samples, rows,
    /// hidden]; y may be x.
    virtual void position_embedding_forward(std::int64_t first_position, ConstTensorView x,
                                            ConstTensorView table, TensorView y) = 0;
    virtual void position_embedding_backward_weight(std::int64_t first_position, ConstTensorView dy,
                                                    TensorView dtable) = 0;

protected:
    ~EmbeddingKernels() = default;
};

/// The two ends of a Vision Transformer (Dosovitskiy et al. 2021). Its patch embedding, a
/// convolution whose stride is its kernel, is cut_patches and then a linear layer with the weight
/// [hidden, channels, side, side] taken as [outputs, inputs].
class VisionKernels {
public:
    /// images [samples, channels, height, width] -> patches [samples, height / side * width / side,
    /// channels * side * side], row by row. Images may be fp32 whatever the compute type, and need
    /// no gradient.
    virtual void cut_patches(std::int64_t side, ConstTensorView images, TensorView patches) = 0;

    /// y [samples, 1 + patches, hidden] = class_token [hidden] before the patches [samples,
    /// patches, hidden], plus positions [1 + patches, hidden].
    virtual void class_token_forward(ConstTensorView patches, ConstTensorView class_token,
                                     ConstTensorView positions, TensorView y) = 0;
    virtual void class_token_backward_input(ConstTensorView dy, TensorView dpatches) = 0;
    virtual void class_token_backward_weight(ConstTensorView dy, TensorView dclass_token,
                                             TensorView dpositions) = 0;

    /// y [samples, hidden] = row 0 of each sample of x [samples, rows, hidden], for the classifier.
    virtual void first_row_forward(ConstTensorView x, TensorView y) = 0;
    /// dx is dy in row 0 and zero elsewhere.
    virtual void first_row_backward_input(ConstTensorView dy, TensorView dx) = 0;

protected:
    ~VisionKernels() = default;
};

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
