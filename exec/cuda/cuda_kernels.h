#pragma once

#include <memory>

#include "exec/core/kernels.h"
#include "exec/core/kernels/overrides.h"
#include "exec/cuda/attention_library.h"
#include "exec/cuda/host_ring.h"
#include "exec/cuda/products/matmul.h"
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

    DEBUBBLE_OVERRIDE_PRODUCTS;
    DEBUBBLE_OVERRIDE_ALL_BUT_PRODUCTS;

    bool makes_pairs() const override { return true; }
    DEBUBBLE_OVERRIDE(Kernels, linear_activation_forward);
    DEBUBBLE_OVERRIDE(Kernels, linear_activation_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, residual_layer_norm_forward);
    DEBUBBLE_OVERRIDE(Kernels, residual_rms_norm_forward);
    DEBUBBLE_OVERRIDE(Kernels, layer_norm_backward);
    DEBUBBLE_OVERRIDE(Kernels, rms_norm_backward);
    DEBUBBLE_OVERRIDE(Kernels, copy_blocks);

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
