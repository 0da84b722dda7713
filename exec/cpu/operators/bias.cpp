#include "exec/cpu/loops/elements.h"
#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

void CpuOperators::bias_backward_weight(ConstTensorView dy, TensorView dbias) {
    Fp32Operands use(scratch_);
    loops::add_rows(use.in(dy), use.changed(dbias));
}

void CpuOperators::add_bias(ConstTensorView bias, TensorView y) {
    Fp32Operands whole(scratch_);
    const auto b = whole.in(bias);
    each_row(y, [&](Fp32Operands& use, Rows rows) { loops::add_bias(b, use.changed(rows.of(y))); });
}

}  // namespace debubble::exec
