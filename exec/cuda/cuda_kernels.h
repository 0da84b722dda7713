#pragma once

#include <memory>

#include "exec/core/kernels.h"
#include "exec/cuda/attention_library.h"
#include "exec/cuda/host_ring.h"
#include "exec/cuda/matmul.h"
#include "exec/cuda/queue.h"

namespace debubble::exec::cuda {

/// The operators on one queue, by the kernels of exec/cuda/kernels and a library's products. The
/// class does not know CUDA: tests run it on the emulated device.
///
/// The same calls leave the same bits in every run. Sums over rows are made in chunks whose number
/// depends on the rows, so two microbatches one after the other leave other bits than one.
class CudaKernels final : public Kernels {
public:
    /// `attention`: a library that is asked before this project's kernels; nullptr: none.
    CudaKernels(Queue& queue, std::unique_ptr<Matmul> matmul,
                std::unique_ptr<AttentionLibrary> attention = nullptr)
        : queue_(queue),
          matmul_(std::move(matmul)),
          attention_(std::move(attention)),
          scratch_(queue),
          ring_(queue) {}
    std::string_view name() const override { return "cuda"; }
    bool on_host() const override { return false; }

    DEBUBBLE_OVERRIDE(Kernels, linear_forward);
    DEBUBBLE_OVERRIDE(Kernels, linear_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, linear_backward_weight);
    DEBUBBLE_OVERRIDE(Kernels, add_bias);
    DEBUBBLE_OVERRIDE(Kernels, bias_backward_weight);

    DEBUBBLE_OVERRIDE(Kernels, token_embedding_forward);
    DEBUBBLE_OVERRIDE(Kernels, token_embedding_backward_weight);

    DEBUBBLE_OVERRIDE(Kernels, layer_norm_forward);
    DEBUBBLE_OVERRIDE(Kernels, layer_norm_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, layer_norm_backward_weight);
    DEBUBBLE_OVERRIDE(Kernels, rms_norm_forward);
    DEBUBBLE_OVERRIDE(Kernels, rms_norm_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, rms_norm_backward_weight);

    DEBUBBLE_OVERRIDE(Kernels, split_heads_forward);
    DEBUBBLE_OVERRIDE(Kernels, split_heads_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, rope_forward);
    DEBUBBLE_OVERRIDE(Kernels, rope_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, attention_forward);
    DEBUBBLE_OVERRIDE(Kernels, attention_backward_input);

    DEBUBBLE_OVERRIDE(Kernels, activation_forward);
    DEBUBBLE_OVERRIDE(Kernels, activation_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, swiglu_forward);
    DEBUBBLE_OVERRIDE(Kernels, swiglu_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, residual_forward);
    DEBUBBLE_OVERRIDE(Kernels, add);
    DEBUBBLE_OVERRIDE(Kernels, dropout);

    DEBUBBLE_OVERRIDE(Kernels, route_forward);
    DEBUBBLE_OVERRIDE(Kernels, route_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, first_rows_of_experts);
    DEBUBBLE_OVERRIDE(Kernels, permute_forward);
    DEBUBBLE_OVERRIDE(Kernels, permute_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, combine_forward);
    DEBUBBLE_OVERRIDE(Kernels, combine_backward_input);

    bool makes_pairs() const override { return true; }
    DEBUBBLE_OVERRIDE(Kernels, linear_activation_forward);
    DEBUBBLE_OVERRIDE(Kernels, linear_activation_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, residual_layer_norm_forward);
    DEBUBBLE_OVERRIDE(Kernels, residual_rms_norm_forward);
    DEBUBBLE_OVERRIDE(Kernels, layer_norm_backward);
    DEBUBBLE_OVERRIDE(Kernels, rms_norm_backward);

    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_softmax);
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_rescale);
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_loss);
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_gradient);
    DEBUBBLE_OVERRIDE(Kernels, count_correct);

    DEBUBBLE_OVERRIDE(Kernels, cut_patches);
    DEBUBBLE_OVERRIDE(Kernels, class_token_forward);
    DEBUBBLE_OVERRIDE(Kernels, class_token_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, class_token_backward_weight);
    DEBUBBLE_OVERRIDE(Kernels, first_row_forward);
    DEBUBBLE_OVERRIDE(Kernels, first_row_backward_input);

    DEBUBBLE_OVERRIDE(Kernels, join_columns);
    DEBUBBLE_OVERRIDE(Kernels, take_columns);
    DEBUBBLE_OVERRIDE(Kernels, copy_blocks);
    DEBUBBLE_OVERRIDE(Kernels, fill_zero);
    DEBUBBLE_OVERRIDE(Kernels, copy);
    DEBUBBLE_OVERRIDE(Kernels, scale);

    DEBUBBLE_OVERRIDE(Kernels, adam_step);
    DEBUBBLE_OVERRIDE(Kernels, sgd_step);
    DEBUBBLE_OVERRIDE(Kernels, sum_of_squares);

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
