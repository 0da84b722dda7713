#pragma once

#include "exec/core/operator_options.h"
#include "exec/cpu/loops/operands.h"

/// The operators on heads around attention, as in exec/core/kernels/attention.h.
namespace debubble::exec::loops {

// RMS norms of heads inside a packed tensor, as in exec/core/kernels/attention.h. Shapes: x
// [tokens, columns], kept [tokens, fewer columns], statistics [tokens, heads of all runs], gain
// [head_dim] or empty.

void head_norm_forward(double eps, const HeadRun& run, In gain, Out x, Out kept, Out statistics);

void head_norm_backward_input(const HeadRun& run, In gain, In kept, In statistics, Out dx);

/// Reads the gradient of the normed heads, which the backward-input overwrites.
void head_norm_backward_weight(const HeadRun& run, In kept, In statistics, In dy, Out dgain);

/// The same over all columns of a run, which lies on several ranks: sums [tokens, runs] are those
/// of this rank, or of all of them; `columns` are those of all ranks.
void width_norm_sums(const HeadRun& run, In x, Out sums);
void width_norm_forward(double eps, std::int64_t columns, const HeadRun& run, In gain, In sums,
                        Out x, Out kept, Out statistics);
void width_norm_gradient_sums(const HeadRun& run, In gain, In kept, In dy, Out sums);
void width_norm_backward_input(std::int64_t columns, const HeadRun& run, In gain, In kept,
                               In statistics, In sums, Out dx);
/// Reads the gradient that the backward-input overwrites.
void width_norm_backward_weight(const HeadRun& run, In kept, In statistics, In dy, Out dgain);

// Rotary position embedding as in exec/core/kernels/attention.h. Shapes: x [samples, rows, heads,
// head_dim], cosines and sines [positions, rotated columns / 2] (exec/core/stage/rope_table.h). It
// works in place; there are no weights.

void rope_forward(const Rotary& how, In cosines, In sines, Out x);

/// Rotates the gradient back.
void rope_backward_input(const Rotary& how, In cosines, In sines, Out dx);

/// Rotates `count` neighbouring pairs of columns by the angles of a row of the tables; `direction`
/// is 1, or -1 to rotate back. y may be x.
void turn_neighbours(std::int64_t count, const float* cosine, const float* sine, float direction,
                     const float* x, float* y);

// The heads of latent attention as in exec/core/kernels/attention.h, of one row: queries, q, k
// [heads, own + r]; keys_values [heads, own + value_dim], v [heads, value_dim]; shared [r]; cosine
// and sine [r / 2].

void latent_heads_forward(In cosine, In sine, In queries, In keys_values, In shared, Out q, Out k,
                          Out v);

void latent_heads_backward_input(In cosine, In sine, In dq, In dk, In dv, Out dqueries,
                                 Out dkeys_values, Out dshared);

// Attention sinks as in exec/core/kernels/attention.h: out, dout [samples, rows, heads, width],
// log_sum [samples, heads, rows], sinks [heads].

void sinks_forward(In sinks, Out out, Out log_sum);

void sinks_backward_weight(In dout, In out, In log_sum, In sinks, Out dsinks);

}  // namespace debubble::exec::loops
