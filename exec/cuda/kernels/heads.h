#pragma once

#include "exec/cuda/kernels/operands.h"

/// The launchers of operators on heads before attention: rotary positions, norms, and the heads of
/// latent attention.
namespace debubble::exec::cuda {

/// Rotates x [samples, rows, heads, head_dim] in place: of the first `turned` of its heads, `pairs`
/// pairs of columns from `first_column` on, which are `pairs` columns apart, or neighbours.
/// cosines, sines fp32 [positions, pairs]. `direction` is 1, or -1 to rotate back.
struct Rotation {
    std::int64_t samples = 0;
    std::int64_t rows = 0;
    std::int64_t heads = 0;
    std::int64_t turned = 0;
    std::int64_t head_dim = 0;
    std::int64_t first_position = 0;
    std::int64_t first_column = 0;
    std::int64_t pairs = 0;
    bool neighbours = false;
    float direction = 1;
};
void rotate(Stream stream, const Rotation& how, const float* cosines, const float* sines, Result x);

/// Norms of a run of heads in x [tokens, x_columns], as in exec/core/kernels/attention.h.
struct NormedHeads {
    std::int64_t tokens = 0;
    std::int64_t heads = 0;  ///< heads of the run
    std::int64_t head_dim = 0;
    std::int64_t first_column = 0;
    std::int64_t first_head = 0;
    std::int64_t x_columns = 0;
    std::int64_t kept_columns = 0;
    std::int64_t all_heads = 0;    ///< heads that have statistics
    std::int64_t gap = 0;          ///< columns of something else after each head in x
    std::int64_t gaps_before = 0;  ///< such columns before the run
};
void head_norm_forward(Stream stream, const NormedHeads& how, float eps, Operand gain, Result x,
                       Result kept, float* statistics);
/// dgain [head_dim] += its gradient. `partials`: fp32 [chunks_of(tokens * heads), head_dim].
void head_norm_backward_weight(Stream stream, const NormedHeads& how, Operand kept,
                               const float* statistics, Operand dy, float* partials, Result dgain);
void head_norm_backward_input(Stream stream, const NormedHeads& how, Operand gain, Operand kept,
                              const float* statistics, Result dx);

/// The norm over all columns of a run together: of `columns` with those of other ranks. `sums` and
/// `statistics` have all_heads columns; a run is one head of its width.
void width_norm_sums(Stream stream, const NormedHeads& how, Operand x, float* sums);
void width_norm_forward(Stream stream, const NormedHeads& how, float eps, std::int64_t columns,
                        Operand gain, const float* sums, Result x, Result kept, float* statistics);
void width_norm_gradient_sums(Stream stream, const NormedHeads& how, Operand gain, Operand kept,
                              Operand dy, float* sums);
void width_norm_backward_input(Stream stream, const NormedHeads& how, std::int64_t columns,
                               Operand gain, Operand kept, const float* statistics,
                               const float* sums, Result dx);

/// x [samples, rows, heads, head_dim] *= 1 + scale log(1 + floor((position + 1) / floor)), in the
/// first `grown` heads.
struct Growth {
    std::int64_t samples = 0;
    std::int64_t rows = 0;
    std::int64_t heads = 0;
    std::int64_t grown = 0;
    std::int64_t head_dim = 0;
    std::int64_t first_position = 0;
    float floor = 1;
    float scale = 0;
};
void grow_queries(Stream stream, const Growth& how, Result x);

/// The heads of latent attention: queries, q, k [samples, rows, heads, own + 2 pairs]; keys_values
/// [samples, rows, heads, own + values]; v [.., values]; the last 2 pairs of the columns of shared
/// [samples, rows, shared_columns].
struct LatentShape {
    std::int64_t samples = 0;
    std::int64_t rows = 0;
    std::int64_t heads = 0;
    std::int64_t own = 0;
    std::int64_t pairs = 0;
    std::int64_t values = 0;
    std::int64_t shared_columns = 0;
    std::int64_t first_position = 0;
};
void latent_heads_forward(Stream stream, const LatentShape& how, const float* cosines,
                          const float* sines, Operand queries, Operand keys_values, Operand shared,
                          Result q, Result k, Result v);
void latent_heads_backward_input(Stream stream, const LatentShape& how, const float* cosines,
                                 const float* sines, Operand dq, Operand dk, Operand dv,
                                 Result dqueries, Result dkeys_values, Result dshared);

}  // namespace debubble::exec::cuda
