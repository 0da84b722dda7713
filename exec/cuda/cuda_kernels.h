#pragma once

#include <memory>

#include "exec/core/kernels.h"
#include "exec/cuda/attention_library.h"
#include "exec/cuda/host_ring.h"
#include "exec/cuda/matmul.h"
#include "exec/cuda/queue.h"

namespace debubble::exec::cuda {

/// The operators by kernels of exec/cuda/kernels and a library's products, on one queue. Knows
/// no CUDA itself: tests run it on the emulated device.
///
/// The same calls leave the same bits in every run. Sums over rows are made in chunks whose
/// number depends on the rows, so two microbatches in turn do not leave the bits of one.
class CudaKernels final : public Kernels {
public:
    /// `attention`: asked before the kernels of our own; nullptr: there is none.
    CudaKernels(Queue& queue, std::unique_ptr<Matmul> matmul,
                std::unique_ptr<AttentionLibrary> attention = nullptr)
        : queue_(queue),
          matmul_(std::move(matmul)),
          attention_(std::move(attention)),
          scratch_(queue),
          ring_(queue) {}
    std::string_view name() const override { return "cuda"; }
    bool on_host() const override { return false; }

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

    bool makes_pairs() const override { return true; }
    void linear_activation_forward(WeightLayout layout, Nonlinearity kind, ConstTensorView x,
                                   ConstTensorView weight, ConstTensorView bias, TensorView wide,
                                   TensorView y) override;
    void linear_activation_backward_input(WeightLayout layout, Nonlinearity kind,
                                          ConstTensorView dy, ConstTensorView weight,
                                          ConstTensorView wide, TensorView dwide) override;
    void residual_layer_norm_forward(double eps, ConstTensorView x, ConstTensorView branch,
                                     ConstTensorView weight, ConstTensorView bias, TensorView sum,
                                     TensorView y, TensorView statistics) override;
    void residual_rms_norm_forward(double eps, ConstTensorView x, ConstTensorView branch,
                                   ConstTensorView weight, TensorView sum, TensorView y,
                                   TensorView statistics) override;
    void layer_norm_backward(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                             ConstTensorView statistics, ConstTensorView through, TensorView dx,
                             TensorView dweight, TensorView dbias) override;
    void rms_norm_backward(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                           ConstTensorView statistics, ConstTensorView through, TensorView dx,
                           TensorView dweight) override;

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
    void copy_blocks(const Blocks& blocks, ConstTensorView from, TensorView to) override;
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

    void upload(ConstTensorView host, TensorView device) override;
    void download(ConstTensorView device, TensorView host) override;
    void finish() override { queue_.finish(); }

private:
    void add_column_sums(const ConstTensorView& x, const TensorView& total);

    Queue& queue_;
    std::unique_ptr<Matmul> matmul_;
    std::unique_ptr<AttentionLibrary> attention_;
    Scratch scratch_;
    HostRing ring_;
};

}  // namespace debubble::exec::cuda
