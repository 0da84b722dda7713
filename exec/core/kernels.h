#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "exec/core/kernels/attention.h"
#include "exec/core/kernels/ends.h"
#include "exec/core/kernels/experts.h"
#include "exec/core/kernels/layers.h"
#include "exec/core/kernels/optimizer.h"
#include "exec/core/kernels/overrides.h"

/// The operators that a device can compute: the seam between a stage of the model and the code that
/// runs its operators (on the processor in a fixed order or by oneDNN, and CUDA).
namespace debubble::exec {

/// The operators of transformers, each with its forward, backward_input and backward_weight. The
/// headers of exec/core/kernels/ describe them and their shapes, group by group.
///
/// * Activations and parameters have the compute type (fp32, bf16 or fp16); statistics, sums
///   over the vocabulary and logs of sums are fp32; gradients of parameters are of the type
///   that their view says; tokens and targets are int32. Sums are made in fp32 at least.
/// * `dx` is the gradient of the loss with respect to `x`. backward_weight adds into the
///   gradient, in row order; backward_input overwrites unless a `Write` says otherwise.
/// * An operand that an operator may lack is an empty view. `tokens` are all dimensions but the
/// last
///   wherever rows do not matter.
/// * Data lies in the device's memory. A call may return before its work is done; the calls on one
/// Kernels run in order. One thread uses it.
class Kernels : public ProductKernels,
                public EmbeddingKernels,
                public NormKernels,
                public AttentionKernels,
                public ElementwiseKernels,
                public RouterKernels,
                public ExpertKernels,
                public LossKernels,
                public VisionKernels,
                public MovingKernels,
                public OptimizerKernels,
                public MuonKernels {
public:
    virtual ~Kernels() = default;
    virtual std::string_view name() const = 0;  ///< "fixed-order", "onednn", "cuda"

    // Operators composed of others, for back ends that have nothing better.
    DEBUBBLE_OVERRIDE(EmbeddingKernels, position_embedding_forward);
    DEBUBBLE_OVERRIDE(EmbeddingKernels, position_embedding_backward_weight);
    DEBUBBLE_OVERRIDE(ExpertKernels, experts_forward);
    DEBUBBLE_OVERRIDE(ExpertKernels, experts_backward_input);
    DEBUBBLE_OVERRIDE(ExpertKernels, experts_backward_weight);
    DEBUBBLE_OVERRIDE(MovingKernels, copy_blocks);

    /// Whether two neighbouring operators, or a norm's whole backward, are faster as one call: then
    /// a stage asks for pairs (exec/core/stage/operators/run_operator.h).
    virtual bool makes_pairs() const { return false; }
    DEBUBBLE_OVERRIDE(ProductKernels, linear_activation_forward);
    DEBUBBLE_OVERRIDE(ProductKernels, linear_activation_backward_input);
    DEBUBBLE_OVERRIDE(NormKernels, residual_layer_norm_forward);
    DEBUBBLE_OVERRIDE(NormKernels, residual_rms_norm_forward);
    DEBUBBLE_OVERRIDE(NormKernels, layer_norm_backward);
    DEBUBBLE_OVERRIDE(NormKernels, rms_norm_backward);

    // Whether the kernels' memory is the host's. If it is not, upload and download copy between the
    // two.
    virtual bool on_host() const { return true; }
    /// Copies to the device and converts types. `host` may change once this returns.
    virtual void upload(ConstTensorView host, TensorView device) {
        copy(host, device);
        finish();
    }
    /// Copies to the host, and returns once the bytes are there. Both have one type.
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
