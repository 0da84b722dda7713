#pragma once

#include "exec/cuda/kernels/operands.h"

/// The loss where the logits lie, which become their own gradient: the steps of
/// exec/cpu/reference/cross_entropy.h. logits [tokens, columns]; largest, sum, target fp32
/// [tokens].
namespace debubble::exec::cuda {

struct LossShape {
    std::int64_t tokens = 0;
    std::int64_t columns = 0;
    std::int64_t entries = 0;      ///< columns that are no padding
    std::int64_t first_entry = 0;  ///< of the vocabulary, in column 0
    std::int32_t ignore_index = -100;
};

void cross_entropy_largest(Stream stream, const LossShape& shape, Operand logits, float* largest);
void cross_entropy_exponentials(Stream stream, const LossShape& shape, const std::int32_t* targets,
                                const float* largest, Result logits, float* sum, float* target);
/// total [1] += the sum of the tokens' losses.
void cross_entropy_loss(Stream stream, const LossShape& shape, const std::int32_t* targets,
                        const float* sum, const float* target, double* total);
void cross_entropy_gradient(Stream stream, const LossShape& shape, float gradient_scale,
                            const std::int32_t* targets, const float* sum, Result logits);
/// total [1] += the rows whose largest logit, the first of equals, is the target's.
/// `flags`: fp32 [tokens] to work in.
void count_correct(Stream stream, const LossShape& shape, const std::int32_t* targets,
                   Operand logits, float* flags, double* total);

}  // namespace debubble::exec::cuda
