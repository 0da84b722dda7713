#pragma once

#include "exec/cpu/loops/operands.h"

/// Scaled dot-product attention, multi-head or grouped-query, without a matrix of queries by keys:
/// an online softmax (Milakov and Gimelshein 2018) over blocks of keys, and a backward that
/// computes each block's probabilities again from the stored log of the sum (Dao et al. 2022,
/// "FlashAttention", algorithms 1 and 4).
///
/// Shapes: q [samples, queries, heads, head_dim], out [.., value_dim]; k [samples, keys, kv_heads,
/// head_dim], v [.., value_dim], head h reading key head h / (heads / kv_heads); log_sum [samples,
/// heads, queries]. The queries may be a slice of the sequence: query i then has position
/// first_query + i among the keys, and under a causal mask sees keys 0 .. first_query + i, or as
/// many of the last of them as a window has.
namespace debubble::exec::fixed_order {

using loops::In;
using loops::Out;

void attention_forward(const Attention& attention, In q, In k, In v, Out out, Out log_sum);

/// Writes dq and adds into dk and dv, which gather over the slices of a sequence: zero
/// them before the last slice, whose backward comes first.
void attention_backward_input(const Attention& attention, In dout, In q, In k, In v, In out,
                              In log_sum, Out dq, Out dk, Out dv);

}  // namespace debubble::exec::fixed_order
