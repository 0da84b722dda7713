#pragma once

#include "exec/cpu/loops/operands.h"

/// The gate of shared experts: y = score x branch, with a score the sigmoid of x times weight.
/// Shapes: x, branch, y [tokens, hidden], weight [hidden], scores [tokens].
namespace debubble::exec::loops {

void shared_gate_forward(In x, In weight, In branch, Out y, Out scores);
/// Adds to dx; overwrites dbranch, which may be dy.
void shared_gate_backward_input(In dy, In weight, In branch, In scores, Out dbranch, Out dx);
/// Adds in the order of the tokens.
void shared_gate_backward_weight(In dy, In x, In branch, In scores, Out dweight);

}  // namespace debubble::exec::loops
