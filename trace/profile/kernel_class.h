#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace debubble::profile {

/// The purpose of a framework's kernel (or CPU operator), by its name.
enum class KernelClass : std::uint8_t {
    PointToPoint,
    Collective,
    Dispatch,  ///< all-to-alls of experts' tokens, dispatch and combine
    AttentionForward,
    AttentionBackward,
    Product,
    Norm,
    Optimizer,
    Quantise,
    Loss,
    Embedding,
    Elementwise,
    Copy,
    Unknown,
};
inline constexpr std::size_t kKernelClasses = 14;

/// The names are those of kernels of NCCL, cuDNN, FlashAttention, CUTLASS, cuBLAS, DeepEP,
/// Transformer Engine, PyTorch's ATen and Inductor, and ROCm's libraries. The first rule that
/// matches decides.
KernelClass class_of(std::string_view kernel);
/// The class of an operator of a trace without a device: "aten::mm".
KernelClass class_of_operator(std::string_view op);

std::string_view name_of(KernelClass kernel_class);
bool is_communication(KernelClass kernel_class);
/// True for the name of a backward kernel, as far as names reveal it.
bool names_backward(std::string_view kernel);
/// True for the GEMM of a weight gradient: one whose name says so, or whose first factor is not
/// transposed while the second is, as cuBLAS, CUTLASS and Tensile encode in their names. In their
/// column-major order a linear layer multiplies TN, its input's gradient is NN, its weight's NT.
bool names_weight_gradient(std::string_view kernel);

}  // namespace debubble::profile
