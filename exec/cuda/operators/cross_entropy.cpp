#include "exec/cuda/kernels/cross_entropy.h"

#include <algorithm>

#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/operators/views.h"

namespace debubble::exec::cuda {

namespace {

LossShape shape_of(const CrossEntropy& loss, const ConstTensorView& logits) {
    const std::int64_t columns = logits.shape.columns();
    return {rows_of(logits), columns, std::clamp<std::int64_t>(loss.entries, 0, columns),
            loss.first_entry, loss.ignore_index};
}

}  // namespace

void CudaKernels::cross_entropy_largest(const CrossEntropy& loss, ConstTensorView logits,
                                        TensorView largest) {
    cuda::cross_entropy_largest(queue_.stream(), shape_of(loss, logits), in(logits),
                                elements<float>(largest));
}

void CudaKernels::cross_entropy_exponentials(const CrossEntropy& loss, ConstTensorView targets,
                                             ConstTensorView largest, TensorView logits,
                                             TensorView sum, TensorView target) {
    cuda::cross_entropy_exponentials(queue_.stream(), shape_of(loss, logits),
                                     elements<std::int32_t>(targets), elements<float>(largest),
                                     out(logits), elements<float>(sum), elements<float>(target));
}

void CudaKernels::cross_entropy_loss(const CrossEntropy& loss, ConstTensorView targets,
                                     ConstTensorView sum, ConstTensorView target,
                                     TensorView total) {
    LossShape shape;
    shape.tokens = targets.shape.elements();
    shape.ignore_index = loss.ignore_index;
    cuda::cross_entropy_loss(queue_.stream(), shape, elements<std::int32_t>(targets),
                             elements<float>(sum), elements<float>(target),
                             elements<double>(total));
}

void CudaKernels::cross_entropy_gradient(const CrossEntropy& loss, ConstTensorView targets,
                                         ConstTensorView sum, ConstTensorView /*target*/,
                                         TensorView logits) {
    cuda::cross_entropy_gradient(
        queue_.stream(), shape_of(loss, logits), static_cast<float>(loss.gradient_scale),
        elements<std::int32_t>(targets), elements<float>(sum), out(logits));
}

void CudaKernels::count_correct(const CrossEntropy& loss, ConstTensorView targets,
                                ConstTensorView logits, TensorView total) {
    const LossShape shape = shape_of(loss, logits);
    cuda::count_correct(queue_.stream(), shape, elements<std::int32_t>(targets), in(logits),
                        scratch_.floats(shape.tokens), elements<double>(total));
}

}  // namespace debubble::exec::cuda
