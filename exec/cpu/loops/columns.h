#pragma once

#include "exec/cpu/loops/operands.h"

/// Conversion between whole rows and the columns of them that tensor-parallel ranks have. Shapes: x
/// [rows, columns], part [rows, columns / parts].
namespace debubble::exec::loops {

/// gathered: the parts one after the other, as an all-gather leaves them.
void join_columns(int parts, In gathered, Out x);

void take_columns(int part, int parts, In x, Out y);

}  // namespace debubble::exec::loops
