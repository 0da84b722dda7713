#include "exec/cuda/kernels/ends.h"

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

void CudaKernels::cross_entropy_softmax(const CrossEntropy& loss, ConstTensorView targets,
                                        TensorView logits, TensorView largest, TensorView sum,
                                        TensorView target) {
    cuda::cross_entropy_softmax(
        queue_.stream(), shape_of(loss, logits), elements<std::int32_t>(targets), in(logits),
        elements<float>(largest), elements<float>(sum), elements<float>(target));
}

void CudaKernels::cross_entropy_rescale(const CrossEntropy& loss, ConstTensorView targets,
                                        ConstTensorView own_largest, ConstTensorView largest,
                                        TensorView sum, TensorView target) {
    LossShape shape;
    shape.tokens = targets.shape.elements();
    shape.columns = shape.entries = loss.entries;
    shape.first_entry = loss.first_entry;
    shape.ignore_index = loss.ignore_index;
    cuda::cross_entropy_rescale(queue_.stream(), shape, elements<std::int32_t>(targets),
                                elements<float>(own_largest), elements<float>(largest),
                                elements<float>(sum), elements<float>(target));
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
                                         ConstTensorView /*own_largest*/, ConstTensorView largest,
                                         ConstTensorView sum, TensorView logits) {
    cuda::cross_entropy_gradient(queue_.stream(), shape_of(loss, logits),
                                 static_cast<float>(loss.gradient_scale),
                                 elements<std::int32_t>(targets), elements<float>(largest),
                                 elements<float>(sum), out(logits));
}

void CudaKernels::count_correct(const CrossEntropy& loss, ConstTensorView targets,
                                ConstTensorView logits, TensorView total) {
    const LossShape shape = shape_of(loss, logits);
    cuda::count_correct(queue_.stream(), shape, elements<std::int32_t>(targets), in(logits),
                        scratch_.floats(shape.tokens), elements<double>(total));
}

}  // namespace debubble::exec::cuda
