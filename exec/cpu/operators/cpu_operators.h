#pragma once

#include "exec/core/kernels.h"
#include "exec/cpu/row_walk.h"

/// The seam's operators on the reference operators, of which a faster back end replaces some.
namespace debubble::exec {

/// Every operator computes in fp32, whatever its operands are stored as: a walk cuts its rows
/// into blocks, which are copied to fp32 where they are not, and rounded once at the end.
class CpuOperators : public Kernels {
public:
    explicit CpuOperators(RowWalk walk) : walk_(std::move(walk)) {}

    void linear_forward(WeightLayout layout, ConstTensorView x, ConstTensorView weight,
                        ConstTensorView bias, TensorView y) override;
    void linear_backward_input(WeightLayout layout, ConstTensorView dy, ConstTensorView weight,
                               TensorView dx, Write write) override;
    void linear_backward_weight(WeightLayout layout, ConstTensorView x, ConstTensorView dy,
                                TensorView dweight, TensorView dbias) override;
    void add_bias(ConstTensorView bias, TensorView y) override;
    void bias_backward_weight(ConstTensorView dy, TensorView dbias) override;
    void token_embedding_forward(ConstTensorView tokens, std::int64_t first_entry,
                                 ConstTensorView table, TensorView y) override;
    void token_embedding_backward_weight(ConstTensorView tokens, std::int64_t first_entry,
                                         ConstTensorView dy, TensorView dtable) override;
    void layer_norm_forward(double eps, ConstTensorView x, ConstTensorView weight,
                            ConstTensorView bias, TensorView y, TensorView statistics) override;
    void layer_norm_backward_input(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                   ConstTensorView statistics, TensorView dx, Write write) override;
    void layer_norm_backward_weight(ConstTensorView dy, ConstTensorView x,
                                    ConstTensorView statistics, TensorView dweight,
                                    TensorView dbias) override;
    void rms_norm_forward(double eps, ConstTensorView x, ConstTensorView weight, TensorView y,
                          TensorView statistics) override;
    void rms_norm_backward_input(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                 ConstTensorView statistics, TensorView dx, Write write) override;
    void rms_norm_backward_weight(ConstTensorView dy, ConstTensorView x, ConstTensorView statistics,
                                  TensorView dweight) override;
    void split_heads_forward(std::int64_t first_row, ConstTensorView packed, TensorView q,
                             TensorView k, TensorView v) override;
    void split_heads_backward_input(std::int64_t first_row, ConstTensorView dq, ConstTensorView dk,
                                    ConstTensorView dv, TensorView dpacked) override;
    void rope_forward(std::int64_t first_position, std::int64_t heads, ConstTensorView cosines,
                      ConstTensorView sines, TensorView x) override;
    void rope_backward_input(std::int64_t first_position, std::int64_t heads,
                             ConstTensorView cosines, ConstTensorView sines,
                             TensorView dx) override;
    void attention_forward(const Attention& attention, ConstTensorView q, ConstTensorView k,
                           ConstTensorView v, TensorView out, TensorView log_sum) override;
    void attention_backward_input(const Attention& attention, ConstTensorView dout,
                                  ConstTensorView q, ConstTensorView k, ConstTensorView v,
                                  ConstTensorView out, ConstTensorView log_sum, TensorView dq,
                                  TensorView dk, TensorView dv) override;
    void activation_forward(Nonlinearity kind, ConstTensorView x, TensorView y) override;
    void activation_backward_input(Nonlinearity kind, ConstTensorView dy, ConstTensorView x,
                                   TensorView dx) override;
    void swiglu_forward(ConstTensorView gate_up, TensorView y) override;
    void swiglu_backward_input(ConstTensorView dy, ConstTensorView gate_up,
                               TensorView dgate_up) override;
    void residual_forward(ConstTensorView x, ConstTensorView branch, TensorView y) override;
    void add(ConstTensorView term, TensorView total) override;
    void dropout(const Dropout& dropout, const Window& window, ConstTensorView x,
                 TensorView y) override;
    void route_forward(std::int64_t chosen, ConstTensorView logits, TensorView weights) override;
    void route_backward_input(ConstTensorView dweights, ConstTensorView weights,
                              TensorView dlogits) override;
    std::vector<std::int64_t> first_rows_of_experts(ConstTensorView weights) override;
    void permute_forward(ConstTensorView weights, ConstTensorView x, TensorView rows) override;
    void permute_backward_input(ConstTensorView weights, ConstTensorView drows,
                                TensorView dx) override;
    void combine_forward(ConstTensorView weights, ConstTensorView rows, TensorView y) override;
    void combine_backward_input(ConstTensorView weights, ConstTensorView dy, ConstTensorView rows,
                                TensorView drows, TensorView dweights) override;
    void cross_entropy_softmax(const CrossEntropy& loss, ConstTensorView targets, TensorView logits,
                               TensorView largest, TensorView sum, TensorView target) override;
    void cross_entropy_rescale(const CrossEntropy& loss, ConstTensorView targets,
                               ConstTensorView own_largest, ConstTensorView largest, TensorView sum,
                               TensorView target) override;
    void cross_entropy_loss(const CrossEntropy& loss, ConstTensorView targets, ConstTensorView sum,
                            ConstTensorView target, TensorView total) override;
    void cross_entropy_gradient(const CrossEntropy& loss, ConstTensorView targets,
                                ConstTensorView own_largest, ConstTensorView largest,
                                ConstTensorView sum, TensorView logits) override;
    void count_correct(const CrossEntropy& loss, ConstTensorView targets, ConstTensorView logits,
                       TensorView total) override;
    void cut_patches(std::int64_t side, ConstTensorView images, TensorView patches) override;
    void class_token_forward(ConstTensorView patches, ConstTensorView class_token,
                             ConstTensorView positions, TensorView y) override;
    void class_token_backward_input(ConstTensorView dy, TensorView dpatches) override;
    void class_token_backward_weight(ConstTensorView dy, TensorView dclass_token,
                                     TensorView dpositions) override;
    void first_row_forward(ConstTensorView x, TensorView y) override;
    void first_row_backward_input(ConstTensorView dy, TensorView dx) override;
    void join_columns(int parts, ConstTensorView gathered, TensorView x) override;
    void take_columns(int part, int parts, ConstTensorView x, TensorView y) override;
    void fill_zero(TensorView x) override;
    void copy(ConstTensorView from, TensorView to) override;
    void scale(double factor, TensorView x) override;
    void adam_step(const AdamOptions& options, std::int64_t step, double gradient_factor,
                   ConstTensorView gradient, TensorView main, TensorView first_moment,
                   TensorView second_moment, TensorView parameter) override;
    void sgd_step(const SgdOptions& options, std::int64_t step, double gradient_factor,
                  ConstTensorView gradient, TensorView main, TensorView velocity,
                  TensorView parameter) override;
    void sum_of_squares(ConstTensorView gradient, TensorView total) override;
    void finish() override {}

protected:
    /// Elements of operands that are alike, as rows of one.
    template <class Body>
    void each_element(const ConstTensorView& x, const Body& body) {
        walk_(x.shape.elements(), 1, body);
    }
    template <class Body>
    void each_row(const ConstTensorView& x, const Body& body) {
        walk_(rows_of(x), x.shape.columns(), body);
    }

    RowWalk walk_;
    Fp32Scratch scratch_;  ///< of operands that a walk does not cut
};

}  // namespace debubble::exec
