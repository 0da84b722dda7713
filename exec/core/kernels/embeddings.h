#pragma once

#include <cstdint>

#include "exec/core/tensor.h"

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

}  // namespace debubble::exec
