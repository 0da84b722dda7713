#include "exec/cpu/fixed_order/linear.h"
#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

void CpuOperators::linear_forward(WeightLayout layout, ConstTensorView x, ConstTensorView weight,
                                  ConstTensorView bias, TensorView y) {
    Fp32Operands use(scratch_);
    fixed_order::linear_forward<float>(layout, use.in(x), use.in(weight), use.in(bias), use.out(y));
}

void CpuOperators::linear_backward_input(WeightLayout layout, ConstTensorView dy,
                                         ConstTensorView weight, TensorView dx, Write write) {
    Fp32Operands use(scratch_);
    fixed_order::linear_backward_input<float>(layout, use.in(dy), use.in(weight),
                                              use.out(dx, write), write);
}

void CpuOperators::linear_backward_weight(WeightLayout layout, ConstTensorView x,
                                          ConstTensorView dy, TensorView dweight,
                                          TensorView dbias) {
    Fp32Operands use(scratch_);
    fixed_order::linear_backward_weight<float>(layout, use.in(x), use.in(dy), use.changed(dweight),
                                               use.changed(dbias));
}

void CpuOperators::bias_backward_weight(ConstTensorView dy, TensorView dbias) {
    Fp32Operands use(scratch_);
    fixed_order::add_rows<float>(use.in(dy), use.changed(dbias));
}

void CpuOperators::add_bias(ConstTensorView bias, TensorView y) {
    Fp32Operands whole(scratch_);
    const auto b = whole.in(bias);
    each_row(y, [&](Fp32Operands& use, Rows rows) {
        fixed_order::add_bias<float>(b, use.changed(rows.of(y)));
    });
}

}  // namespace debubble::exec
