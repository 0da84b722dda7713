#pragma once

#include "exec/cuda/kernels/operands.h"

/// The launchers at the two ends of a network: token embeddings, and the loss.
namespace debubble::exec::cuda {

// Token embeddings. tokens [count], table [entries, hidden], whose row 0 is vocabulary entry
// `first_entry`; tokens of other ranks' entries give zeros and have no gradient.

struct EmbeddingShape {
    std::int64_t tokens = 0;
    std::int64_t hidden = 0;
    std::int64_t first_entry = 0;
    std::int64_t entries = 0;
};

void token_embedding_forward(Stream stream, const EmbeddingShape& shape, const std::int32_t* tokens,
                             Operand table, Result y);
/// dtable += dy, each row at its token, in the order of the tokens: without atomics, so that the
/// same step leaves the same bits.
void token_embedding_backward_weight(Stream stream, const EmbeddingShape& shape,
                                     const std::int32_t* tokens, Operand dy, Result dtable);

// The loss, computed in the memory of the logits, which are read once for their softmax, and once
// more when they become their own gradient: the steps of exec/core/kernels.h. logits [tokens,
// columns]; largest, sum, target fp32 [tokens].

struct LossShape {
    std::int64_t tokens = 0;
    std::int64_t columns = 0;
    std::int64_t entries = 0;      ///< columns that are not padding
    std::int64_t first_entry = 0;  ///< vocabulary entry in column 0
    std::int32_t ignore_index = -100;
};

void cross_entropy_softmax(Stream stream, const LossShape& shape, const std::int32_t* targets,
                           Operand logits, float* largest, float* sum, float* target);
void cross_entropy_rescale(Stream stream, const LossShape& shape, const std::int32_t* targets,
                           const float* own_largest, const float* largest, float* sum,
                           float* target);
/// total [1] += the sum of the tokens' losses.
void cross_entropy_loss(Stream stream, const LossShape& shape, const std::int32_t* targets,
                        const float* sum, const float* target, double* total);
void cross_entropy_gradient(Stream stream, const LossShape& shape, float gradient_scale,
                            const std::int32_t* targets, const float* largest, const float* sum,
                            Result logits);
/// total [1] += the number of rows whose largest logit, the first of equal ones, is the target's.
/// `flags` is scratch memory, fp32 [tokens].
void count_correct(Stream stream, const LossShape& shape, const std::int32_t* targets,
                   Operand logits, float* flags, double* total);

}  // namespace debubble::exec::cuda
