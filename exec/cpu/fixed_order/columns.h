#pragma once

#include "exec/cpu/fixed_order/operands.h"

/// Conversion between whole rows and the columns of them that tensor-parallel ranks have. Shapes: x
/// [rows, columns], part [rows, columns / parts].
namespace debubble::exec::fixed_order {

/// gathered: the parts one after the other, as an all-gather leaves them.
template <Real T>
void join_columns(int parts, In<T> gathered, Out<T> x);

template <Real T>
void take_columns(int part, int parts, In<T> x, Out<T> y);

}  // namespace debubble::exec::fixed_order
