#pragma once

#include "exec/cuda/kernels/attention.h"

namespace debubble::exec::cuda {

/// The attention of a library, which takes the place of this project's kernels where it can.
class AttentionLibrary {
public:
    virtual ~AttentionLibrary() = default;
    /// The same as cuda::attention_forward. Returns false, having done nothing, where the shape is
    /// not for a library. Throws WorldError where it is and the library has no kernel for it, so
    /// that whoever chose the library learns of it.
    virtual bool forward(Stream stream, const AttentionShape& shape, Operand q, Operand k,
                         Operand v, Result out, float* log_sum) = 0;
    /// The same as cuda::attention_backward_input, on the same terms.
    virtual bool backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q,
                          Operand k, Operand v, Operand out, const float* log_sum, Result dq,
                          Result dk, Result dv) = 0;
};

/// Whether a library may be asked: whole sequences in one 16-bit type, nothing dropped, no window
/// and no cap, no slopes, values as wide as keys, no sums to add to. Dropout uses random numbers of
/// this project's own.
constexpr bool is_for_library(const AttentionShape& shape, Type type) {
    return (type == Type::Bf16 || type == Type::Fp16) && shape.queries == shape.keys &&
           shape.first_query == 0 && shape.dropped.scale == 0 && shape.head_dim % 8 == 0 &&
           shape.value_dim == shape.head_dim && shape.window >= shape.queries && shape.chunk == 0 &&
           shape.soft_cap == 0.F && shape.alibi_heads == 0;
}

}  // namespace debubble::exec::cuda
