#include "exec/cpu/loops/elements.h"
#include "exec/cpu/loops/optimizer.h"
#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

void CpuOperators::activation_forward(Nonlinearity kind, ConstTensorView x, TensorView y) {
    each_element(y, [&](Fp32Operands& use, Rows part) {
        loops::activation_forward(kind, use.in(part.of(x)), use.out(part.of(y)));
    });
}

void CpuOperators::activation_backward_input(Nonlinearity kind, ConstTensorView dy,
                                             ConstTensorView x, TensorView dx) {
    each_element(dx, [&](Fp32Operands& use, Rows part) {
        loops::activation_backward_input(kind, use.in(part.of(dy)), use.in(part.of(x)),
                                         use.out(part.of(dx)));
    });
}

void CpuOperators::gated_forward(Gate kind, ConstTensorView gate_up, TensorView y) {
    each_row(y, [&](Fp32Operands& use, Rows rows) {
        loops::gated_forward(kind, use.in(rows.of(gate_up)), use.out(rows.of(y)));
    });
}

void CpuOperators::gated_backward_input(Gate kind, ConstTensorView dy, ConstTensorView gate_up,
                                        TensorView dgate_up) {
    each_row(dy, [&](Fp32Operands& use, Rows rows) {
        loops::gated_backward_input(kind, use.in(rows.of(dy)), use.in(rows.of(gate_up)),
                                    use.out(rows.of(dgate_up)));
    });
}

void CpuOperators::output_gate_forward(ConstTensorView x, ConstTensorView gate, TensorView y) {
    each_element(y, [&](Fp32Operands& use, Rows part) {
        loops::output_gate_forward(use.in(part.of(x)), use.in(part.of(gate)), use.out(part.of(y)));
    });
}

void CpuOperators::output_gate_backward_input(ConstTensorView dy, ConstTensorView x,
                                              ConstTensorView gate, TensorView dx,
                                              TensorView dgate) {
    each_element(dx, [&](Fp32Operands& use, Rows part) {
        loops::output_gate_backward_input(use.in(part.of(dy)), use.in(part.of(x)),
                                          use.in(part.of(gate)), use.out(part.of(dx)),
                                          use.out(part.of(dgate)));
    });
}

void CpuOperators::soft_cap_forward(double cap, ConstTensorView x, TensorView y) {
    each_element(y, [&](Fp32Operands& use, Rows part) {
        loops::soft_cap_forward(cap, use.in(part.of(x)), use.out(part.of(y)));
    });
}

void CpuOperators::soft_cap_backward_input(double cap, ConstTensorView dy, ConstTensorView x,
                                           TensorView dx) {
    each_element(dx, [&](Fp32Operands& use, Rows part) {
        loops::soft_cap_backward_input(cap, use.in(part.of(dy)), use.in(part.of(x)),
                                       use.out(part.of(dx)));
    });
}

void CpuOperators::residual_forward(ConstTensorView x, ConstTensorView branch, TensorView y) {
    each_element(y, [&](Fp32Operands& use, Rows part) {
        loops::residual_forward(use.in(part.of(x)), use.in(part.of(branch)), use.out(part.of(y)));
    });
}

void CpuOperators::add(ConstTensorView term, TensorView total) {
    each_element(total, [&](Fp32Operands& use, Rows part) {
        loops::add(use.in(part.of(term)), use.changed(part.of(total)));
    });
}

void CpuOperators::dropout(const Dropout& dropout, const Window& window, ConstTensorView x,
                           TensorView y) {
    assert(x.shape.rank() == 3 && "x, y [samples, rows, columns]");
    const std::int64_t columns = x.shape[2];
    walk_(x.shape[0] * x.shape[1], columns, [&](Fp32Operands& use, Rows rows) {
        const auto from = use.in(rows.of(x));
        const auto to = use.out(rows.of(y));
        for (std::int64_t i = 0; i < rows.count; ++i) {
            const std::int64_t line = rows.first + i;
            const std::uint64_t element = window.element(line / x.shape[1], line % x.shape[1], 0);
            loops::drop_run(dropout, element, columns, from.row(i), to.row(i));
        }
    });
}

void CpuOperators::scale(double factor, TensorView x) {
    each_element(
        x, [&](Fp32Operands& use, Rows part) { loops::scale(factor, use.changed(part.of(x))); });
}

}  // namespace debubble::exec
