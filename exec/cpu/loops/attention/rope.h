#pragma once

#include "exec/core/operator_options.h"
#include "exec/cpu/loops/operands.h"

/// Rotary position embedding as in exec/core/kernels/attention.h. Shapes: x [samples, rows, heads,
/// head_dim], cosines and sines [positions, rotated columns / 2] (exec/core/stage/rope_table.h). It
/// works in place; there are no weights.
namespace debubble::exec::loops {

void rope_forward(const Rotary& how, In cosines, In sines, Out x);

/// Rotates the gradient back.
void rope_backward_input(const Rotary& how, In cosines, In sines, Out dx);

/// Rotates `count` neighbouring pairs of columns by the angles of a row of the tables; `direction`
/// is 1, or -1 to rotate back. y may be x.
void turn_neighbours(std::int64_t count, const float* cosine, const float* sine, float direction,
                     const float* x, float* y);

}  // namespace debubble::exec::loops
