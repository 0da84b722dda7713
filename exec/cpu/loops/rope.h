#pragma once

#include "exec/cpu/loops/operands.h"

/// Rotary position embedding (Su et al. 2021) in Hugging Face's convention, "rotate half": elements
/// i and i + head_dim / 2 of a head are a pair, which is rotated by the angle position * theta^(-2
/// i / head_dim). Shapes: x [samples, rows, heads, head_dim], cosines and sines [positions,
/// head_dim / 2] (exec/core/stage/rope_table.h). It works in place; there are no weights.
namespace debubble::exec::loops {

/// Row 0 of x has position `first_position`.
void rope_forward(std::int64_t first_position, In cosines, In sines, Out x);

/// Rotates the gradient back.
void rope_backward_input(std::int64_t first_position, In cosines, In sines, Out dx);

}  // namespace debubble::exec::loops
