#pragma once

#include "exec/cuda/kernels/operands.h"

/// Token embeddings. tokens [count], table [entries, hidden], whose row 0 is vocabulary entry
/// `first_entry`; tokens of other ranks' entries give zeros and have no gradient.
namespace debubble::exec::cuda {

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

}  // namespace debubble::exec::cuda
