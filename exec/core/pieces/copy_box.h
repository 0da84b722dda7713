#pragma once

#include <cstddef>

#include "exec/core/pieces/slice.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

/// Copies the elements of `what`, a box inside both slices' boxes, from one buffer into
/// another of the same or another floating-point type, rounding to nearest even. `plus` is added to
/// every element before it is rounded, where -0 changes none, not even a zero's sign; if it is not
/// 0, both types are floating-point ones. Data may have any alignment. Precondition:
/// can_convert(from_type, to_type).
void copy_box(const Box& what, const Slice& from, DataType from_type, const std::byte* from_data,
              const Slice& to, DataType to_type, std::byte* to_data, double plus = -0.0);

bool can_convert(DataType from, DataType to);

}  // namespace debubble::exec
