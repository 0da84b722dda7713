#pragma once

#include <initializer_list>

#include "exec/cuda/kernels/operands.h"

/// Scaled dot-product attention without a matrix of queries by keys (Dao et al. 2022,
/// "FlashAttention"), in fp32 whatever the operands' type.
///
/// q, out [samples, queries, heads, head_dim]; k, v [samples, keys, kv_heads, head_dim]; log_sum
/// fp32 [samples, heads, queries]. Query i has position first_query + i among the keys.
namespace debubble::exec::cuda {

/// Dropout of scores as in exec/core/operator_options.h; `scale` 0 means that nothing is dropped.
struct DroppedScores {
    std::uint64_t seed = 0;
    std::uint64_t stream = 0;
    std::uint32_t threshold = 0;
    float scale = 0;
    std::int64_t all_heads = 0;
    std::int64_t all_positions = 0;
    std::int64_t first_sample = 0;
    std::int64_t first_head = 0;
};

struct AttentionShape {
    std::int64_t samples = 0;
    std::int64_t queries = 0;
    std::int64_t keys = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;  ///< kMaxHeadDim at most
    bool causal = true;
    std::int64_t first_query = 0;
    float scale = 1;
    DroppedScores dropped = {};
    bool adds_keys = true;  ///< whether dk and dv are added to; else they are overwritten
    // Strides in elements from one row to the next: of out and dout, of q and dq, of k, v, dk and
    // dv.
    std::int64_t out_stride = 0;
    std::int64_t query_stride = 0;
    std::int64_t key_stride = 0;
};

void attention_forward(Stream stream, const AttentionShape& shape, Operand q, Operand k, Operand v,
                       Result out, float* log_sum);

/// Writes dq, dk and dv without atomics: the block that owns some keys sums their dk and dv, the
/// block that owns some queries sums their dq. `dots` is scratch memory, fp32 like log_sum.
void attention_backward_input(Stream stream, const AttentionShape& shape, Operand dout, Operand q,
                              Operand k, Operand v, Operand out, const float* log_sum, float* dots,
                              Result dq, Result dk, Result dv);

/// Whether attention runs on tensor cores: all operands but the gradients of keys have one 16-bit
/// type, and rows of heads can be read in runs of eight elements. Products of 16-bit numbers are
/// summed in fp32; the probabilities and their gradients are rounded in between.
bool attention_is_for_tensor_cores(const AttentionShape& shape,
                                   std::initializer_list<Operand> operands,
                                   std::initializer_list<Result> key_gradients = {});
void tensor_attention_forward(Stream stream, const AttentionShape& shape, Operand q, Operand k,
                              Operand v, Result out, float* log_sum);
void tensor_attention_backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q,
                               Operand k, Operand v, const float* log_sum, const float* dots,
                               Result dq, Result dk, Result dv);

}  // namespace debubble::exec::cuda
