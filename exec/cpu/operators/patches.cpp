#include "exec/cpu/loops/ends.h"
#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

void CpuOperators::cut_patches(std::int64_t side, ConstTensorView images, TensorView patches) {
    Fp32Operands use(scratch_);
    loops::cut_patches(side, use.in(images), use.out(patches));
}

void CpuOperators::class_token_forward(ConstTensorView patches, ConstTensorView class_token,
                                       ConstTensorView positions, TensorView y) {
    Fp32Operands use(scratch_);
    loops::class_token_forward(use.in(patches), use.in(class_token), use.in(positions), use.out(y));
}

void CpuOperators::class_token_backward_input(ConstTensorView dy, TensorView dpatches) {
    Fp32Operands use(scratch_);
    loops::class_token_backward_input(use.in(dy), use.out(dpatches));
}

void CpuOperators::class_token_backward_weight(ConstTensorView dy, TensorView dclass_token,
                                               TensorView dpositions) {
    Fp32Operands use(scratch_);
    loops::class_token_backward_weight(use.in(dy), use.changed(dclass_token),
                                       use.changed(dpositions));
}

void CpuOperators::first_row_forward(ConstTensorView x, TensorView y) {
    Fp32Operands use(scratch_);
    loops::first_row_forward(use.in(x), use.out(y));
}

void CpuOperators::first_row_backward_input(ConstTensorView dy, TensorView dx) {
    Fp32Operands use(scratch_);
    loops::first_row_backward_input(use.in(dy), use.out(dx));
}

}  // namespace debubble::exec
