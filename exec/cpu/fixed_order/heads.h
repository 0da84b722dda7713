#pragma once

#include "exec/cpu/fixed_order/operands.h"

/// Moves activations between the layout of linear layers and that of attention. Keys and
/// values have a row for every position of the sequence, of which a pass over one slice
/// fills its own, from `first_row` on.
namespace debubble::exec::fixed_order {

/// Copies slice [samples, rows, width] into whole [samples, all rows, width].
template <Real T>
void store_rows(std::int64_t first_row, In<T> slice, Out<T> whole);

/// Copies a slice's rows out of the whole. The backward of store_rows.
template <Real T>
void load_rows(std::int64_t first_row, In<T> whole, Out<T> slice);

/// Cuts packed [samples, rows, query width + 2 key width] (GPT-2's c_attn) into
/// q [samples, rows, query width] and rows of k, v [samples, all rows, key width].
template <Real T>
void split_heads_forward(std::int64_t first_row, In<T> packed, Out<T> q, Out<T> k, Out<T> v);

template <Real T>
void split_heads_backward_input(std::int64_t first_row, In<T> dq, In<T> dk, In<T> dv,
                                Out<T> dpacked);

}  // namespace debubble::exec::fixed_order
