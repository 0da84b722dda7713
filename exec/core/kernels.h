#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

/// What a device can compute: the seam between a stage of the model and the code that runs
/// its operators (reference, oneDNN, CUDA).
namespace debubble::exec {

/// The operators of transformers, each with its forward, backward_input and backward_weight.
///
/// * Activations and parameters have the compute type (fp32, bf16 or fp16); statistics, sums
///   over the vocabulary and logs of sums are fp32; gradients of parameters are of the type
///   that their view says; tokens and targets are int32. Sums are made in fp32 at least.
/// * `dx` is the gradient of the loss with respect to `x`. backward_weight adds into the
///   gradient, in row order; backward_input overwrites unless a `Write` says otherwise.
/// * An operand that an operator may lack is an empty view. Shapes are those of the
///   reference operators (exec/cpu/reference/*.h), [tokens, ...] wherever rows do not matter.
/// * Data lies in the device's memory. A call may return before its work is done; calls on
///   one Kernels happen in order. One thread uses it.
class Kernels {
public:
    virtual ~Kernels() = default;
    virtual std::string_view name() const = 0;  ///< "reference", "onednn"

    // Matrix products. Shapes: x [tokens, inputs], y [tokens, outputs].
    virtual void linear_forward(WeightLayout layout, ConstTensorView x, ConstTensorView weight,
                                ConstTensorView bias, TensorView y) = 0;
    virtual void linear_backward_input(WeightLayout layout, ConstTensorView dy,
                                       ConstTensorView weight, TensorView dx, Write write) = 0;
    /// dbias may be empty.
    virtual void linear_backward_weight(WeightLayout layout, ConstTensorView x, ConstTensorView dy,
                                        TensorView dweight, TensorView dbias) = 0;
    /// y [tokens, outputs] += bias [outputs]: behind a sum over tensor-parallel ranks.
    virtual void add_bias(ConstTensorView bias, TensorView y) = 0;
    /// dbias += sum of dy over the tokens.
    virtual void bias_backward_weight(ConstTensorView dy, TensorView dbias) = 0;

    // Embeddings.
    virtual void token_embedding_forward(ConstTensorView tokens, std::int64_t first_entry,
                                         ConstTensorView table, TensorView y) = 0;
    virtual void token_embedding_backward_weight(ConstTensorView tokens, std::int64_t first_entry,
                                                 ConstTensorView dy, TensorView dtable) = 0;
    /// x, y [samples, rows, hidden]; y may be x.
    virtual void position_embedding_forward(std::int64_t first_position, ConstTensorView x,
                                            ConstTensorView table, TensorView y);
    virtual void position_embedding_backward_weight(std::int64_t first_position, ConstTensorView dy,
                                                    TensorView dtable);

    // Normalisation over the last extent. statistics: fp32 [tokens, 2] of LayerNorm (mean,
    // 1 / deviation), [tokens] of RMSNorm.
    virtual void layer_norm_forward(double eps, ConstTensorView x, ConstTensorView weight,
                                    ConstTensorView bias, TensorView y, TensorView statistics) = 0;
    virtual void layer_norm_backward_input(ConstTensorView dy, ConstTensorView x,
                                           ConstTensorView weight, ConstTensorView statistics,
                                           TensorView dx, Write write) = 0;
    virtual void layer_norm_backward_weight(ConstTensorView dy, ConstTensorView x,
                                            ConstTensorView statistics, TensorView dweight,
                                            TensorView dbias) = 0;
    virtual void rms_norm_forward(double eps, ConstTensorView x, ConstTensorView weight,
                                  TensorView y, TensorView statistics) = 0;
    virtual void rms_norm_backward_input(ConstTensorView dy, ConstTensorView x,
                                         ConstTensorView weight, ConstTensorView statistics,
                                         TensorView dx, Write write) = 0;
    virtual void rms_norm_backward_weight(ConstTensorView dy, ConstTensorView x,
                                          ConstTensorView statistics, TensorView dweight) = 0;

    // Attention. q [samples, rows, heads, head_dim]; k, v with kv_heads, and a row for every
    // key that a query may see.
    /// packed [samples, rows, query width + 2 key width] -> q, k, v.
    virtual void split_heads_forward(std::int64_t first_row, ConstTensorView packed, TensorView q,
                                     TensorView k, TensorView v) = 0;
    virtual void split_heads_backward_input(std::int64_t first_row, ConstTensorView dq,
                                            ConstTensorView dk, ConstTensorView dv,
                                            TensorView dpacked) = 0;
    /// x [samples, rows, heads, head_dim] in place, the first `heads` of its heads; cosines, sines:
    /// fp32 [positions, head_dim / 2].
    virtual void rope_forward(std::int64_t first_position, std::int64_t heads,
                              ConstTensorView cosines, ConstTensorView sines, TensorView x) = 0;
    virtual void rope_backward_input(std::int64_t first_position, std::int64_t heads,
                                     ConstTensorView cosines, ConstTensorView sines,
                                     TensorView dx) = 0;
    /// log_sum: fp32 [samples, heads, rows]. Where rows are packed (Attention::packed_row), q, k
    /// and v begin in one tensor, in this order, and so do dq, dk and dv.
    virtual void attention_forward(const Attention& attention, ConstTensorView q, ConstTensorView k,
                                   ConstTensorView v, TensorView out, TensorView log_sum) = 0;
    /// Writes dq; dk and dv as `attention` says.
    virtual void attention_backward_input(const Attention& attention, ConstTensorView dout,
                                          ConstTensorView q, ConstTensorView k, ConstTensorView v,
                                          ConstTensorView out, ConstTensorView log_sum,
                                          TensorView dq, TensorView dk, TensorView dv) = 0;

    // Element by element.
    virtual void activation_forward(Nonlinearity kind, ConstTensorView x, TensorView y) = 0;
    virtual void activation_backward_input(Nonlinearity kind, ConstTensorView dy, ConstTensorView x,
                                           TensorView dx) = 0;
    /// gate_up [tokens, 2 ffn]: in each row the gates, then what they let through.
    virtual void swiglu_forward(ConstTensorView gate_up, TensorView y) = 0;
    virtual void swiglu_backward_input(ConstTensorView dy, ConstTensorView gate_up,
                                       TensorView dgate_up) = 0;
    /// y = x + branch; y may be either.
    virtual void residual_forward(ConstTensorView x, ConstTensorView branch, TensorView y) = 0;
    /// total += term.
    virtual void add(ConstTensorView term, TensorView total) = 0;
    /// x [samples, rows, columns]; y may be x. The backward is the same call on gradients.
    virtual void dropout(const Dropout& dropout, const Window& window, ConstTensorView x,
                         TensorView y) = 0;

    // A mixture of experts. weights: fp32 [tokens, experts], zero where a token does not go; rows
    // [tokens x chosen, hidden]: one expert's after the other's (exec/cpu/reference/experts.h).
    virtual void route_forward(std::int64_t chosen, ConstTensorView logits, TensorView weights) = 0;
    /// dlogits: fp32, may be dweights.
    virtual void route_backward_input(ConstTensorView dweights, ConstTensorView weights,
                                      TensorView dlogits) = 0;
    /// [experts + 1]: where each expert's rows begin, and where all end. Waits for the device.
    virtual std::vector<std::int64_t> first_rows_of_experts(ConstTensorView weights) = 0;
    virtual void permute_forward(ConstTensorView weights, ConstTensorView x, TensorView rows) = 0;
    virtual void permute_backward_input(ConstTensorView weights, ConstTensorView drows,
                                        TensorView dx) = 0;
    /// Each expert's product with its own rows, without biases: those of expert e are
    /// [first_rows[e], first_rows[e + 1]) of x [rows, inputs] and y [rows, outputs], and its weight
    /// is the e-th [outputs, inputs] of `weights`. Experts without rows are left out. These
    /// defaults multiply one after the other.
    virtual void experts_forward(std::span<const std::int64_t> first_rows, ConstTensorView x,
                                 ConstTensorView weights, TensorView y);
    virtual void experts_backward_input(std::span<const std::int64_t> first_rows,
                                        ConstTensorView dy, ConstTensorView weights, TensorView dx);
    virtual void experts_backward_weight(std::span<const std::int64_t> first_rows,
                                         ConstTensorView x, ConstTensorView dy,
                                         TensorView dweights);
    virtual void combine_forward(ConstTensorView weights, ConstTensorView rows, TensorView y) = 0;
    virtual void combine_backward_input(ConstTensorView weights, ConstTensorView dy,
                                        ConstTensorView rows, TensorView drows,
                                        TensorView dweights) = 0;

    // Two operators in a row, and what a norm's backward does, at once. These defaults compose
    // them; who has better says so, and is asked for pairs (exec/core/stage/pairs.h).
    virtual bool makes_pairs() const { return false; }
    /// wide = x weight + bias, kept for the backward; y = activation(wide).
    virtual void linear_activation_forward(WeightLayout layout, Nonlinearity kind,
                                           ConstTensorView x, ConstTensorView weight,
                                           ConstTensorView bias, TensorView wide, TensorView y);
    /// dwide, from dy of a product whose input was activation(wide).
    virtual void linear_activation_backward_input(WeightLayout layout, Nonlinearity kind,
                                                  ConstTensorView dy, ConstTensorView weight,
                                                  ConstTensorView wide, TensorView dwide);
    /// sum = x + branch; y = norm(sum). y may be branch.
    virtual void residual_layer_norm_forward(double eps, ConstTensorView x, ConstTensorView branch,
                                             ConstTensorView weight, ConstTensorView bias,
                                             TensorView sum, TensorView y, TensorView statistics);
    virtual void residual_rms_norm_forward(double eps, ConstTensorView x, ConstTensorView branch,
                                           ConstTensorView weight, TensorView sum, TensorView y,
                                           TensorView statistics);
    /// dx = the norm's gradient, plus `through` (what reaches x past the norm) if there is some;
    /// dx may be `through`. Adds into dweight and dbias.
    virtual void layer_norm_backward(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                     ConstTensorView statistics, ConstTensorView through,
                                     TensorView dx, TensorView dweight, TensorView dbias);
    virtual void rms_norm_backward(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                   ConstTensorView statistics, ConstTensorView through,
                                   TensorView dx, TensorView dweight);

    // Cross-entropy, in place: logits [tokens, share of the vocabulary] become their gradient.
    // The others are fp32 [tokens].
    /// Of this share: its largest logit, the sum of e^(logit - largest), and the target's logit -
    /// largest. What is in logits is the kernels' own until they have become the gradient.
    virtual void cross_entropy_softmax(const CrossEntropy& loss, ConstTensorView targets,
                                       TensorView logits, TensorView largest, TensorView sum,
                                       TensorView target) = 0;
    /// The same for the largest logit of all shares; sum and target are then to be summed over the
    /// tensor-parallel ranks.
    virtual void cross_entropy_rescale(const CrossEntropy& loss, ConstTensorView targets,
                                       ConstTensorView own_largest, ConstTensorView largest,
                                       TensorView sum, TensorView target) = 0;
    /// total (fp64 [1]) += the sum of the tokens' losses.
    virtual void cross_entropy_loss(const CrossEntropy& loss, ConstTensorView targets,
                                    ConstTensorView sum, ConstTensorView target,
                                    TensorView total) = 0;
    /// own_largest is empty where the share is all of the vocabulary.
    virtual void cross_entropy_gradient(const CrossEntropy& loss, ConstTensorView targets,
                                        ConstTensorView own_largest, ConstTensorView largest,
                                        ConstTensorView sum, TensorView logits) = 0;
    /// total (fp64 [1]) += the rows whose largest logit is the target's.
    virtual void count_correct(const CrossEntropy& loss, ConstTensorView targets,
                               ConstTensorView logits, TensorView total) = 0;

    // The ends of a Vision Transformer. Images may be fp32 whatever the compute type.
    virtual void cut_patches(std::int64_t side, ConstTensorView images, TensorView patches) = 0;
    virtual void class_token_forward(ConstTensorView patches, ConstTensorView class_token,
                                     ConstTensorView positions, TensorView y) = 0;
    virtual void class_token_backward_input(ConstTensorView dy, TensorView dpatches) = 0;
    virtual void class_token_backward_weight(ConstTensorView dy, TensorView dclass_token,
                                             TensorView dpositions) = 0;
    virtual void first_row_forward(ConstTensorView x, TensorView y) = 0;
    virtual void first_row_backward_input(ConstTensorView dy, TensorView dx) = 0;

    // Moving. Columns: x [rows, columns] <-> parts, one after the other [parts][rows, columns /
    // parts], as an all-gather leaves them.
    virtual void join_columns(int parts, ConstTensorView gathered, TensorView x) = 0;
    virtual void take_columns(int part, int parts, ConstTensorView x, TensorView y) = 0;
    virtual void fill_zero(TensorView x) = 0;
    virtual void copy(ConstTensorView from, TensorView to) = 0;  ///< converts types
    /// `from` and `to` are the first blocks, of one type.
    virtual void copy_blocks(const Blocks& blocks, ConstTensorView from, TensorView to);
    virtual void scale(double factor, TensorView x) = 0;

    // The optimizer, on shards: all operands are alike in shape. `gradient_factor` undoes loss
    // scaling and clips. `main` is the parameter that the optimizer steps, `parameter` its copy
    // in the compute type, written too; empty where main is what computes.
    virtual void adam_step(const AdamOptions& options, std::int64_t step, double gradient_factor,
                           ConstTensorView gradient, TensorView main, TensorView first_moment,
                           TensorView second_moment, TensorView parameter) = 0;
    virtual void sgd_step(const SgdOptions& options, std::int64_t step, double gradient_factor,
                          ConstTensorView gradient, TensorView main, TensorView velocity,
                          TensorView parameter) = 0;
    /// total (fp64 [1]) += the sum of squares; not finite if an element is not.
    virtual void sum_of_squares(ConstTensorView gradient, TensorView total) = 0;

    // Between the host's memory and the device's. Where they are one, copies.
    virtual bool on_host() const { return true; }
    /// `host` may change once this returns. Converts types.
    virtual void upload(ConstTensorView host, TensorView device) {
        copy(host, device);
        finish();
    }
    /// Returns once the bytes are there. Both are of one type.
    virtual void download(ConstTensorView device, TensorView host) {
        copy(device, host);
        finish();
    }

    /// Returns once all work that was asked for is done.
    virtual void finish() = 0;
};

/// Makes the kernels of a rank on the rank's own thread.
using KernelsMaker = std::function<std::unique_ptr<Kernels>()>;

}  // namespace debubble::exec
