#pragma once

#include <cstdint>

#include "base/check.h"
#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

/// Attention and its operands. q [samples, rows, heads, head_dim]; k and v have kv_heads, and a row
/// for every key that a query may see. The values of latent attention are narrower than its keys:
/// v, out and their gradients have heads of value_dim.
class AttentionKernels {
public:
    /// packed [samples, rows, query width + 2 key width] (GPT-2's c_attn) -> q, and rows of k and v
    /// from `first_row` on.
    virtual void split_heads_forward(std::int64_t first_row, ConstTensorView packed, TensorView q,
                                     TensorView k, TensorView v) = 0;
    virtual void split_heads_backward_input(std::int64_t first_row, ConstTensorView dq,
                                            ConstTensorView dk, ConstTensorView dv,
                                            TensorView dpacked) = 0;

    /// Rotary position embedding (Su et al. 2021): every pair (a, b) of columns becomes (a cos - b
    /// sin, b cos + a sin) with the row's cosine and sine of the pair. It works in place, in the
    /// part of x [samples, rows, heads, head_dim] that `how` names. cosines, sines: fp32
    /// [positions, rotated columns / 2] (exec/core/stage/rope_table.h).
    virtual void rope_forward(const Rotary& how, ConstTensorView cosines, ConstTensorView sines,
                              TensorView x) = 0;
    /// The gradient: rotates back.
    virtual void rope_backward_input(const Rotary& how, ConstTensorView cosines,
                                     ConstTensorView sines, TensorView dx) = 0;

    /// RMS norm of every head of a run in x [tokens, columns], in place: y = x / sqrt(mean(x^2) +
    /// eps) * gain, with gain [head_dim], or 1 if it is empty. The values before are copied to kept
    /// [tokens, columns of all runs]; statistics fp32 [tokens, heads of all runs] has the factors.
    virtual void head_norm_forward(double eps, const HeadRun& run, ConstTensorView gain,
                                   TensorView x, TensorView kept, TensorView statistics) = 0;
    /// Turns the gradient of the normed heads into that of the heads, in place, and adds to dgain
    /// unless that is empty.
    virtual void head_norm_backward(const HeadRun& run, ConstTensorView gain, ConstTensorView kept,
                                    ConstTensorView statistics, TensorView dx,
                                    TensorView dgain) = 0;

    /// The same norm over all columns of a run together, of which a tensor-parallel rank has its
    /// heads: the ranks' sums are added up between the calls. sums fp32 [tokens, runs] gets the
    /// sums of squares; `columns` are those of all ranks; gain has one for each column of this
    /// rank. statistics fp32 [tokens, runs]; a run's place in both is its first_head.
    virtual void width_norm_sums(const HeadRun& run, ConstTensorView x, TensorView sums) = 0;
    virtual void width_norm_forward(double eps, std::int64_t columns, const HeadRun& run,
                                    ConstTensorView gain, ConstTensorView sums, TensorView x,
                                    TensorView kept, TensorView statistics) = 0;
    /// sums gets the sums of gradient times gain times value.
    virtual void width_norm_gradient_sums(const HeadRun& run, ConstTensorView gain,
                                          ConstTensorView kept, ConstTensorView dy,
                                          TensorView sums) = 0;
    /// Turns the gradient into that of the values, in place, and adds to dgain.
    virtual void width_norm_backward(std::int64_t columns, const HeadRun& run, ConstTensorView gain,
                                     ConstTensorView kept, ConstTensorView statistics,
                                     ConstTensorView sums, TensorView dx, TensorView dgain) = 0;

    /// Multiplies the queries in x [samples, rows, heads, head_dim] as `how` says. The gradient is
    /// the same call on gradients.
    virtual void grow_queries(const QueryGrowth& how, TensorView x) = 0;

    /// The heads of multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1), with
    /// r rotated columns, two for each angle of the tables. queries [samples, rows, heads, own + r]
    /// -> q, whose last r columns are rotated; keys_values [samples, rows, heads, own + value_dim]
    /// -> k [samples, rows, heads, own + r] and v; the last r columns of shared [samples, rows,
    /// columns], rotated, are those of every key. Pairs are neighbours.
    virtual void latent_heads_forward(std::int64_t first_position, ConstTensorView cosines,
                                      ConstTensorView sines, ConstTensorView queries,
                                      ConstTensorView keys_values, ConstTensorView shared,
                                      TensorView q, TensorView k, TensorView v) = 0;
    /// Writes dqueries, dkeys_values and the last r columns of dshared.
    virtual void latent_heads_backward_input(std::int64_t first_position, ConstTensorView cosines,
                                             ConstTensorView sines, ConstTensorView dq,
                                             ConstTensorView dk, ConstTensorView dv,
                                             TensorView dqueries, TensorView dkeys_values,
                                             TensorView dshared) = 0;

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

    /// Lets each head's softmax run over one more score, sinks [heads], whose value is nothing
    /// (gpt-oss; Xiao et al. 2023): scales out and raises log_sum, as an attention without it left
    /// them. The attention's backward with these is that of the attention with sinks.
    virtual void sinks_forward(ConstTensorView sinks, TensorView out, TensorView log_sum) = 0;
    /// dsinks += the gradient: a sum over samples and rows.
    virtual void sinks_backward_weight(ConstTensorView dout, ConstTensorView out,
                                       ConstTensorView log_sum, ConstTensorView sinks,
                                       TensorView dsinks) = 0;

protected:
    ~AttentionKernels() = default;
};

/// Sizes of queries, keys and values that are packed in each row of one tensor
/// [samples, rows, query + 2 key], and in tensors of their own elsewhere: q [samples, rows, query],
/// k and v [samples, all_rows, key]. The packed rows are those of k and v from `first_row` on.
struct PackedRows {
    std::int64_t samples, rows, all_rows, first_row, query, key;

    PackedRows(const ConstTensorView& q, const ConstTensorView& k, std::int64_t first)
        : samples(q.shape[0]),
          rows(q.shape[1]),
          all_rows(k.shape[1]),
          first_row(first),
          query(q.shape.elements() / (samples * rows)),
          key(k.shape.elements() / (samples * all_rows)) {
        DEBUBBLE_CHECK(k.shape[0] == samples && first + rows <= all_rows, "keys have all rows");
    }
    std::int64_t width() const { return query + 2 * key; }  ///< elements of a packed row
};

}  // namespace debubble::exec
