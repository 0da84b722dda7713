#include "exec/cpu/reference/cross_entropy.h"
#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

void CpuOperators::cross_entropy_largest(const CrossEntropy& loss, ConstTensorView logits,
                                         TensorView largest) {
    each_row(logits, [&](Fp32Operands& use, Rows rows) {
        reference::cross_entropy_largest<float>(loss, use.in(rows.of(logits)),
                                                use.out(rows.of(largest)));
    });
}

void CpuOperators::cross_entropy_exponentials(const CrossEntropy& loss, ConstTensorView targets,
                                              ConstTensorView largest, TensorView logits,
                                              TensorView sum, TensorView target) {
    each_row(logits, [&](Fp32Operands& use, Rows rows) {
        reference::cross_entropy_exponentials<float>(
            loss, rows.of(targets).as<std::int32_t>(), use.in(rows.of(largest)),
            use.changed(rows.of(logits)), use.out(rows.of(sum)), use.out(rows.of(target)));
    });
}

void CpuOperators::cross_entropy_loss(const CrossEntropy& loss, ConstTensorView targets,
                                      ConstTensorView sum, ConstTensorView target,
                                      TensorView total) {
    total.as<double>()[0] += reference::cross_entropy_loss<float>(
        loss, targets.as<std::int32_t>(), sum.as<float>(), target.as<float>());
}

void CpuOperators::cross_entropy_gradient(const CrossEntropy& loss, ConstTensorView targets,
                                          ConstTensorView sum, ConstTensorView /*target*/,
                                          TensorView logits) {
    each_row(logits, [&](Fp32Operands& use, Rows rows) {
        reference::cross_entropy_gradient<float>(loss, rows.of(targets).as<std::int32_t>(),
                                                 use.in(rows.of(sum)),
                                                 use.changed(rows.of(logits)));
    });
}

void CpuOperators::count_correct(const CrossEntropy& loss, ConstTensorView targets,
                                 ConstTensorView logits, TensorView total) {
    total.as<double>()[0] +=
        walk_.sum(rows_of(logits), logits.shape.columns(), [&](Fp32Operands& use, Rows rows) {
            return static_cast<double>(reference::correct_predictions<float>(
                loss, rows.of(targets).as<std::int32_t>(), use.in(rows.of(logits))));
        });
}

}  // namespace debubble::exec
