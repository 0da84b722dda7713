#pragma once

#include <cstdint>

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

/// Attention and its operands. q [samples, rows, heads, head_dim]; k and v have kv_heads, and a row
/// for every key that a query may see.
class AttentionKernels {
public:
    /// packed [samples, rows, query width + 2 key width] (GPT-2's c_attn) -> q, and rows of k and v
    /// from `first_row` on.
    virtual void split_heads_forward(std::int64_t first_row, ConstTensorView packed, TensorView q,
                                     TensorView k, TensorView v) = 0;
    virtual void split_heads_backward_input(std::int64_t first_row, ConstTensorView dq,
                                            ConstTensorView dk, ConstTensorView dv,
                                            TensorView dpacked) = 0;

    /// Rotary position embedding (Su et al. 2021) in Hugging Face's convention, "rotate half":
    /// elements i and i + head_dim / 2 of a head are a pair, which is rotated by the angle position
    /// * theta^(-2 i / head_dim). It works in place, in the first `heads` heads of x [samples,
    /// rows, heads, head_dim], whose row 0 has position `first_position`. cosines, sines: fp32
    /// [positions, head_dim / 2] (exec/core/stage/rope_table.h).
    virtual void rope_forward(std::int64_t first_position, std::int64_t heads,
                              ConstTensorView cosines, ConstTensorView sines, TensorView x) = 0;
    /// Rotates the gradient back.
    virtual void rope_backward_input(std::int64_t first_position, std::int64_t heads,
                                     ConstTensorView cosines, ConstTensorView sines,
                                     TensorView dx) = 0;

    /// out = softmax(scale q k^T) v. log_sum: fp32 [samples, heads, rows], the logarithm of each
    /// query's sum of exponentials, which the backward reads. Where rows are packed
    /// (Attention::packed_row), q, k and v start in one tensor, in this order, and so do dq, dk and
    /// dv.
    virtual void attention_forward(const Attention& attention, ConstTensorView q, ConstTensorView k,
                                   ConstTensorView v, TensorView out, TensorView log_sum) = 0;
    /// Writes dq; writes or adds to dk and dv as `attention` says.
    virtual void attention_backward_input(const Attention& attention, ConstTensorView dout,
                                          ConstTensorView q, ConstTensorView k, ConstTensorView v,
                                          ConstTensorView out, ConstTensorView log_sum,
                                          TensorView dq, TensorView dk, TensorView dv) = 0;

protected:
    ~AttentionKernels() = default;
};

}  // namespace debubble::exec
