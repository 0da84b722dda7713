#pragma once

#include "exec/cpu/fixed_order/operands.h"

/// Token and learned position embeddings. They pass no gradient to an input other than the stream
/// itself, so only backward_weight does any work.
namespace debubble::exec::fixed_order {

/// y [tokens, hidden] = rows of table [entries, hidden], whose row 0 is vocabulary entry
/// `first_entry`. A token of another rank's share gives zeros; the sum over the ranks of
/// a tensor-parallel group is the embedding.
template <Real T>
void token_embedding_forward(View<const std::int32_t> tokens, std::int64_t first_entry, In<T> table,
                             Out<T> y);

/// dtable += dy, each row at its token, in the order of the tokens.
template <Real T>
void token_embedding_backward_weight(View<const std::int32_t> tokens, std::int64_t first_entry,
                                     In<T> dy, Out<T> dtable);

/// y = x + table rows first_position, ...; x, y [samples, rows, hidden] may be the same,
/// table [positions, hidden]. dx is dy.
template <Real T>
void position_embedding_forward(std::int64_t first_position, In<T> x, In<T> table, Out<T> y);

/// dtable += dy, summed over the samples.
template <Real T>
void position_embedding_backward_weight(std::int64_t first_position, In<T> dy, Out<T> dtable);

}  // namespace debubble::exec::fixed_order
