#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace debubble::profile {

/// What a kernel (or an operator on the CPU) of a framework does, by its name.
enum class KernelClass : std::uint8_t {
    PointToPoint,
    Collective,
    Dispatch,  ///< exchanges of experts' tokens, there and back
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

/// The names are those that NCCL, cuDNN, FlashAttention, CUTLASS, cuBLAS, DeepEP, Transformer
/// Engine, PyTorch's ATen and Inductor, ROCm's libraries give their kernels. The first rule that
/// fits decides.
KernelClass class_of(std::string_view kernel);
/// The class of an operator of a trace without a device: "aten::mm".
KernelClass class_of_operator(std::string_view op);

std::string_view name_of(KernelClass kernel_class);
bool is_communication(KernelClass kernel_class);
/// True for a name of a kernel of backward, as far as names say so.
bool names_backward(std::string_view kernel);
/// True for a product of a weight's gradient: one that says so, or whose first factor is not
/// transposed and whose second one is, as cuBLAS, CUTLASS and Tensile write into their names. In
/// their order of columns a linear layer multiplies TN, its input's gradient is NN, its weight's
/// NT.
bool names_weight_gradient(std::string_view kernel);

}  // namespace debubble::profile
