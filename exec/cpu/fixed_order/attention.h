#pragma once

#include <optional>

#include "exec/cpu/fixed_order/dropout.h"
#include "exec/cpu/fixed_order/operands.h"

/// Scaled dot-product attention, multi-head or grouped-query, without a matrix of queries by keys:
/// an online softmax (Milakov and Gimelshein 2018) over blocks of keys, and a backward that
/// computes each block's probabilities again from the stored log of the sum (Dao et al. 2022,
/// "FlashAttention", algorithms 1 and 4).
///
/// Shapes: q, out [samples, queries, heads, head_dim]; k, v [samples, keys, kv_heads, head_dim],
/// head h reading key head h / (heads / kv_heads); log_sum [samples, heads, queries]. The queries
/// may be a slice of the sequence: query i then has position first_query + i among the keys, and
/// under a causal mask sees keys 0 .. first_query + i.
namespace debubble::exec::fixed_order {

template <Real T>
void attention_forward(const Attention& attention, In<T> q, In<T> k, In<T> v, Out<T> out,
                       Out<T> log_sum);

/// Writes dq and adds into dk and dv, which gather over the slices of a sequence: zero
/// them before the last slice, whose backward comes first.
template <Real T>
void attention_backward_input(const Attention& attention, In<T> dout, In<T> q, In<T> k, In<T> v,
                              In<T> out, In<T> log_sum, Out<T> dq, Out<T> dk, Out<T> dv);

}  // namespace debubble::exec::fixed_order
