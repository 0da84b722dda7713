#pragma once

#include "exec/core/tensor.h"

/// Between fp32, in which the processor computes, and the types in which tensors are stored.
namespace debubble::exec {

/// to [elements] = from, whose type is fp32, bf16 or fp16.
void widen(const ConstTensorView& from, float* to);
/// Rounds to nearest, ties to even.
void narrow(const float* from, const TensorView& to);

/// From any of the three types to any. Equal types are copied, whatever they are.
void convert(const ConstTensorView& from, const TensorView& to);

}  // namespace debubble::exec
