#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "exec/core/kernels.h"
#include "exec/core/kernels/overrides.h"
#include "exec/cuda/kernels/attention.h"
#include "exec/cuda/products/matmul.h"
#include "exec/cuda/queue.h"

namespace debubble::exec::cuda {

/// The attention of a library, which takes the place of this project's kernels where it can.
class AttentionLibrary {
public:
    virtual ~AttentionLibrary() = default;
    /// The same as cuda::attention_forward. Returns false, having done nothing, where the shape is
    /// not for a library. Throws WorldError where it is and the library has no kernel for it, so
    /// that a user who chose the library learns of it.
    virtual bool forward(Stream stream, const AttentionShape& shape, Operand q, Operand k,
                         Operand v, Result out, float* log_sum) = 0;
    /// The same as cuda::attention_backward_input, on the same terms.
    virtual bool backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q,
                          Operand k, Operand v, Operand out, const float* log_sum, Result dq,
                          Result dk, Result dv) = 0;
};

/// Whether a library may be asked: whole sequences in one 16-bit type, nothing dropped, no window
/// and no cap, no slopes, values as wide as keys, no sums to add to. Dropout uses random numbers of
/// this project's own.
constexpr bool is_for_library(const AttentionShape& shape, Type type) {
    return (type == Type::Bf16 || type == Type::Fp16) && shape.queries == shape.keys &&
           shape.first_query == 0 && shape.dropped.scale == 0 && shape.head_dim % 8 == 0 &&
           shape.value_dim == shape.head_dim && shape.window >= shape.queries && shape.chunk == 0 &&
           shape.soft_cap == 0.F && shape.alibi_heads == 0;
}

/// Copies bytes of the host to the device without waiting for the device, through pinned memory
/// that is allocated at the first use and whose halves are filled alternately. It waits only if the
/// device lags by a whole half.
class HostRing {
public:
    explicit HostRing(Queue& queue) : queue_(queue) {}
    ~HostRing();
    HostRing(const HostRing&) = delete;
    HostRing& operator=(const HostRing&) = delete;

    /// The host's memory may change once this returns.
    void upload(const void* host, void* device, std::int64_t size);

private:
    void turn();

    static constexpr std::int64_t kHalf = std::int64_t{16} << 20;
    Queue& queue_;
    std::byte* memory_ = nullptr;
    Event left_[2] = {};  ///< the device has read the content of this half
    int half_ = 0;
    std::int64_t used_ = 0;  ///< bytes used of this half
};

/// The operators on one queue, by the kernels of exec/cuda/kernels and a library's GEMMs. The
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
