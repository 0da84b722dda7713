#pragma once

#include "exec/core/tensor.h"

/// Conversion between fp32, in which the processor computes, and the types in which tensors are
/// stored.
namespace debubble::exec {

/// Converts `from`, whose type is fp32, bf16 or fp16, to `to` [elements].
void widen(const ConstTensorView& from, float* to);
/// Rounds to nearest, ties to even.
void narrow(const float* from, const TensorView& to);

/// Converts between any of the three types. Equal types, of any kind, are copied.
void convert(const ConstTensorView& from, const TensorView& to);

}  // namespace debubble::exec
