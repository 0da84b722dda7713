#pragma once

#include <initializer_list>

#include "exec/cuda/kernels/operands.h"

/// Scaled dot-product attention without a matrix of queries by keys (Dao et al. 2022,
/// "FlashAttention"), in fp32 whatever the operands' type.
///
/// q [samples, queries, heads, head_dim], out [.., value_dim]; k [samples, keys, kv_heads,
/// head_dim], v [.., value_dim]; log_sum fp32 [samples, heads, queries]. Query i has position
/// first_query + i among the keys.
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

/// A window that hides nothing: longer than any sequence, and still a number of 32 bits.
inline constexpr std::int64_t kNoWindow = std::int64_t{1} << 30;

struct AttentionShape {
    std::int64_t samples = 0;
    std::int64_t queries = 0;
    std::int64_t keys = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;
    bool causal = true;
    std::int64_t first_query = 0;
    float scale = 1;
    DroppedScores dropped = {};
    bool adds_keys = true;  ///< whether dk and dv are added to; else they are overwritten
    // Strides in elements from one row to the next: of out and dout, of q and dq, of k and dk.
    std::int64_t out_stride = 0;
    std::int64_t query_stride = 0;
    std::int64_t key_stride = 0;
    std::int64_t value_stride = 0;  ///< the same of v and dv
    std::int64_t value_dim = 0;     ///< head_dim at most (widths_of() in geometry.h)
    /// Keys that a query sees under a causal mask: itself and those before it.
    std::int64_t window = kNoWindow;
    std::int64_t chunk = 0;  ///< it sees keys of its own chunk of this many positions; 0: of all
    /// Heads of the layer whose slopes their scores have (Alibi of exec/core/operator_options.h),
    /// of which this rank's start at alibi_first; 0: scores fall by nothing.
    std::int64_t alibi_heads = 0;
    std::int64_t alibi_first = 0;
    float soft_cap = 0;  ///< scaled scores s become soft_cap tanh(s / soft_cap); 0: they stay
};

void attention_forward(Stream stream, const AttentionShape& shape, Operand q, Operand k, Operand v,
                       Result out, float* log_sum);

/// Writes dq, dk and dv without atomics: the block that owns some keys sums their dk and dv, the
/// block that owns some queries sums their dq. `dots` is scratch memory, fp32 like log_sum.
void attention_backward_input(Stream stream, const AttentionShape& shape, Operand dout, Operand q,
                              Operand k, Operand v, Operand out, const float* log_sum, float* dots,
                              Result dq, Result dk, Result dv);

/// Whether attention runs on tensor cores: all operands but the gradients of keys have one 16-bit
/// type, rows of heads can be read in runs of eight elements, and scores are neither capped nor
/// lowered. Products of 16-bit numbers are summed in fp32; the probabilities and their gradients
/// are rounded in between.
bool attention_is_for_tensor_cores(const AttentionShape& shape,
                                   std::initializer_list<Operand> operands,
                                   std::initializer_list<Result> key_gradients = {});
void tensor_attention_forward(Stream stream, const AttentionShape& shape, Operand q, Operand k,
                              Operand v, Result out, float* log_sum);
void tensor_attention_backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q,
                               Operand k, Operand v, const float* log_sum, const float* dots,
                               Result dq, Result dk, Result dv);

/// out *= S / (S + e^sink) and log_sum = log(S + e^sink), where S is e^log_sum.
void sinks_forward(Stream stream, const AttentionShape& shape, Operand sinks, Result out,
                   float* log_sum);
/// dsinks [heads] -= the sum over samples and rows of e^(sink - log_sum) (dout . out). `dots` is
/// scratch memory, fp32 like log_sum.
void sinks_backward(Stream stream, const AttentionShape& shape, Operand dout, Operand out,
                    const float* log_sum, float* dots, Operand sinks, Result dsinks);

}  // namespace debubble::exec::cuda
