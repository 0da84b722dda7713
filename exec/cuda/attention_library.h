#pragma once

#include "exec/cuda/kernels/attention.h"

namespace debubble::exec::cuda {

/// A library's attention, in the place of the kernels of our own where it has some.
class AttentionLibrary {
public:
    virtual ~AttentionLibrary() = default;
    /// As cuda::attention_forward; false, and nothing is done, where it is not for a library.
    /// Throws WorldError where it is, and the library has no kernel: who asked for one shall know.
    virtual bool forward(Stream stream, const AttentionShape& shape, Operand q, Operand k,
                         Operand v, Result out, float* log_sum) = 0;
    /// As cuda::attention_backward_input.
    virtual bool backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q,
                          Operand k, Operand v, Operand out, const float* log_sum, Result dq,
                          Result dk, Result dv) = 0;
};

/// Whole sequences in one 16-bit type, nothing dropped, no sums to add to: what a library may be
/// asked for. Dropout has our own random numbers.
constexpr bool is_for_library(const AttentionShape& shape, Type type) {
    return (type == Type::Bf16 || type == Type::Fp16) && shape.queries == shape.keys &&
           shape.first_query == 0 && shape.dropped.scale == 0 && shape.head_dim % 8 == 0;
}

}  // namespace debubble::exec::cuda
