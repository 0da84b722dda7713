#include "exec/cuda/kernels/optimizer.h"

#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/kernels/geometry.h"
#include "exec/cuda/operators/views.h"

namespace debubble::exec::cuda {

namespace {

SliceOfMatrix place_of(const MatrixSlice& slice) {
    return {slice.rows,          slice.columns,        slice.first,    slice.row_stride,
            slice.column_stride, slice.first_in_whole, slice.whole_row};
}

}  // namespace

void CudaKernels::muon_momentum(const MuonMomentum& how, const MatrixSlice& slice,
                                ConstTensorView gradient, TensorView moment, TensorView whole) {
    const MomentumNumbers use{static_cast<float>(how.gradient_factor),
                              static_cast<float>(how.momentum), how.nesterov};
    cuda::muon_momentum(queue_.stream(), place_of(slice), use, in(gradient), out(moment),
                        elements<float>(whole));
}

void CudaKernels::muon_step(double kept, double rate, const MatrixSlice& slice,
                            ConstTensorView whole, TensorView main, TensorView parameter) {
    cuda::muon_step(queue_.stream(), place_of(slice), static_cast<float>(kept),
                    static_cast<float>(rate), elements<float>(whole), out(main), out(parameter));
}

void CudaKernels::scale_to_unit_norm(TensorView x) {
    const std::int64_t n = x.shape.elements();
    auto* const partials = static_cast<double*>(scratch_.bytes((kMaxPartials + 1) * 8));
    double* const squares = partials + kMaxPartials;
    queue_.fill_zero(squares, 8);
    add_sum_of_squares(queue_.stream(), n, in(x), partials, squares);
    divide_by_root(queue_.stream(), n, squares, kLeastNorm, elements<float>(x));
}

void CudaKernels::combine(double a, ConstTensorView x, double b, TensorView y) {
    cuda::combine(queue_.stream(), y.shape.elements(), static_cast<float>(a), elements<float>(x),
                  static_cast<float>(b), elements<float>(y));
}

}  // namespace debubble::exec::cuda
