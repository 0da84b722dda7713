#include "exec/cpu/loops/norms.h"
#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

void CpuOperators::layer_norm_forward(double eps, ConstTensorView x, ConstTensorView weight,
                                      ConstTensorView bias, TensorView y, TensorView statistics) {
    Fp32Operands whole(scratch_);
    const auto w = whole.in(weight);
    const auto b = whole.in(bias);
    each_row(x, [&](Fp32Operands& use, Rows rows) {
        loops::layer_norm_forward(eps, use.in(rows.of(x)), w, b, use.out(rows.of(y)),
                                  use.out(rows.of(statistics)));
    });
}

void CpuOperators::layer_norm_backward_input(ConstTensorView dy, ConstTensorView x,
                                             ConstTensorView weight, ConstTensorView statistics,
                                             TensorView dx, Write write) {
    Fp32Operands whole(scratch_);
    const auto w = whole.in(weight);
    each_row(x, [&](Fp32Operands& use, Rows rows) {
        loops::layer_norm_backward_input(use.in(rows.of(dy)), use.in(rows.of(x)), w,
                                         use.in(rows.of(statistics)), use.out(rows.of(dx), write),
                                         write);
    });
}

void CpuOperators::layer_norm_backward_weight(ConstTensorView dy, ConstTensorView x,
                                              ConstTensorView statistics, TensorView dweight,
                                              TensorView dbias) {
    Fp32Operands whole(scratch_);
    const auto sum = whole.changed(dweight);
    const auto bias_sum = whole.changed(dbias);
    walk_.in_order(rows_of(x), x.shape.columns(), [&](Fp32Operands& use, Rows rows) {
        loops::layer_norm_backward_weight(use.in(rows.of(dy)), use.in(rows.of(x)),
                                          use.in(rows.of(statistics)), sum, bias_sum);
    });
}

void CpuOperators::rms_norm_forward(double eps, ConstTensorView x, ConstTensorView weight,
                                    TensorView y, TensorView statistics) {
    Fp32Operands whole(scratch_);
    const auto w = whole.in(weight);
    each_row(x, [&](Fp32Operands& use, Rows rows) {
        loops::rms_norm_forward(eps, use.in(rows.of(x)), w, use.out(rows.of(y)),
                                use.out(rows.of(statistics)));
    });
}

void CpuOperators::rms_norm_backward_input(ConstTensorView dy, ConstTensorView x,
                                           ConstTensorView weight, ConstTensorView statistics,
                                           TensorView dx, Write write) {
    Fp32Operands whole(scratch_);
    const auto w = whole.in(weight);
    each_row(x, [&](Fp32Operands& use, Rows rows) {
        const bool wider = dx.shape.columns() > dy.shape.columns();  // whose other columns stay
        loops::rms_norm_backward_input(use.in(rows.of(dy)), use.in(rows.of(x)), w,
                                       use.in(rows.of(statistics)),
                                       use.out(rows.of(dx), wider ? Write::Add : write), write);
    });
}

void CpuOperators::rms_norm_backward_weight(ConstTensorView dy, ConstTensorView x,
                                            ConstTensorView statistics, TensorView dweight) {
    Fp32Operands whole(scratch_);
    const auto sum = whole.changed(dweight);
    walk_.in_order(rows_of(x), x.shape.columns(), [&](Fp32Operands& use, Rows rows) {
        loops::rms_norm_backward_weight(use.in(rows.of(dy)), use.in(rows.of(x)),
                                        use.in(rows.of(statistics)), sum);
    });
}

}  // namespace debubble::exec
