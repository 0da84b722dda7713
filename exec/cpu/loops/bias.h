#pragma once

#include "exec/cpu/loops/operands.h"

/// The bias of a linear layer.
namespace debubble::exec::loops {

/// y += bias, to every row.
void add_bias(In bias, Out y);

/// total [columns] += the sum of x [rows, columns] over its rows, in their order.
void add_rows(In x, Out total);

}  // namespace debubble::exec::loops
