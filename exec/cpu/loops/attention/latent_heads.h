#pragma once

#include "exec/cpu/loops/operands.h"

/// The heads of latent attention as in exec/core/kernels/attention.h, of one row: queries, q, k
/// [heads, own + r]; keys_values [heads, own + value_dim], v [heads, value_dim]; shared [r]; cosine
/// and sine [r / 2].
namespace debubble::exec::loops {

void latent_heads_forward(In cosine, In sine, In queries, In keys_values, In shared, Out q, Out k,
                          Out v);

void latent_heads_backward_input(In cosine, In sine, In dq, In dk, In dv, Out dqueries,
                                 Out dkeys_values, Out dshared);

}  // namespace debubble::exec::loops
