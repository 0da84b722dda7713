#pragma once

#include "exec/cpu/loops/operands.h"

/// Copies between rows of every sample and tensors that have those rows alone.
namespace debubble::exec::loops {

/// Copies slice [samples, rows, width] into whole [samples, all rows, width].
void store_rows(std::int64_t first_row, In slice, Out whole);

/// Copies a slice's rows out of the whole. The backward of store_rows.
void load_rows(std::int64_t first_row, In whole, Out slice);

}  // namespace debubble::exec::loops
