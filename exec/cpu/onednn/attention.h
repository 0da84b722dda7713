#pragma once

#include <vector>

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"
#include "exec/cpu/onednn/matmul.h"

/// Attention as in exec/core/kernels/attention.h, with products by oneDNN on blocks that stay in
/// the second-level cache, and heads dealt out to workers.
namespace debubble::exec::onednn {

inline constexpr std::int64_t kQueriesAtOnce = 64;
inline constexpr std::int64_t kKeysAtOnce = 512;

/// The products and the memory of one worker. Matrices of queries by keys have rows of
/// kKeysAtOnce; `weights` and `narrow_gradients` are their copies in 16 bits.
struct AttentionWorker {
    Matmul matmul{1};
    std::vector<float> scores, gradients, slopes, gathered, largest, sum, dots, mask, row, dk, dv;
    std::vector<std::uint16_t> weights, narrow_gradients;
};

/// q, k, v, out and their gradients have one type, for which multiplies() is true.
class BlockedAttention {
public:
    explicit BlockedAttention(int workers);

    void forward(const Attention& attention, ConstTensorView q, ConstTensorView k,
                 ConstTensorView v, TensorView out, View<float> log_sum);
    void backward(const Attention& attention, ConstTensorView dout, ConstTensorView q,
                  ConstTensorView k, ConstTensorView v, ConstTensorView out,
                  View<const float> log_sum, TensorView dq, TensorView dk, TensorView dv);

private:
    std::vector<AttentionWorker> workers_;
};

}  // namespace debubble::exec::onednn
