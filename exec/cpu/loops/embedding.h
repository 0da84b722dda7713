#pragma once

#include "exec/cpu/loops/operands.h"

/// Token and learned position embeddings. They pass no gradient to an input other than the stream
/// itself, so only backward_weight does any work.
namespace debubble::exec::loops {

/// dtable [entries, hidden] += dy [tokens, hidden], each row at its token, in the order of the
/// tokens. Row 0 of the table is vocabulary entry `first_entry`; tokens of another rank's share are
/// passed over.
void token_embedding_backward_weight(View<const std::int32_t> tokens, std::int64_t first_entry,
                                     In dy, Out dtable);

/// y = x + table rows first_position, ...; x, y [samples, rows, hidden] may be the same,
/// table [positions, hidden]. dx is dy.
void position_embedding_forward(std::int64_t first_position, In x, In table, Out y);

/// dtable += dy, summed over the samples.
void position_embedding_backward_weight(std::int64_t first_position, In dy, Out dtable);

}  // namespace debubble::exec::loops
