#include "exec/cpu/loops/ends.h"
#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

void CpuOperators::cross_entropy_softmax(const CrossEntropy& loss, ConstTensorView targets,
                                         TensorView logits, TensorView largest, TensorView sum,
                                         TensorView target) {
    each_row(logits, [&](Fp32Operands& use, Rows rows) {
        const View<float> changed = use.changed(rows.of(logits));
        const View<float> own = rows.of(largest).as<float>();
        loops::cross_entropy_largest(loss, changed, own);
        loops::cross_entropy_exponentials(loss, rows.of(targets).as<std::int32_t>(), own, changed,
                                          rows.of(sum).as<float>(), rows.of(target).as<float>());
    });
}

void CpuOperators::cross_entropy_rescale(const CrossEntropy& loss, ConstTensorView targets,
                                         ConstTensorView own_largest, ConstTensorView largest,
                                         TensorView sum, TensorView target) {
    loops::cross_entropy_rescale(loss, targets.as<std::int32_t>(), own_largest.as<float>(),
                                 largest.as<float>(), sum.as<float>(), target.as<float>());
}

void CpuOperators::cross_entropy_loss(const CrossEntropy& loss, ConstTensorView targets,
                                      ConstTensorView sum, ConstTensorView target,
                                      TensorView total) {
    total.as<double>()[0] += loops::cross_entropy_loss(loss, targets.as<std::int32_t>(),
                                                       sum.as<float>(), target.as<float>());
}

void CpuOperators::cross_entropy_gradient(const CrossEntropy& loss, ConstTensorView targets,
                                          ConstTensorView own_largest, ConstTensorView largest,
                                          ConstTensorView sum, TensorView logits) {
    each_row(logits, [&](Fp32Operands& use, Rows rows) {
        loops::cross_entropy_gradient(loss, rows.of(targets).as<std::int32_t>(),
                                      use.in(rows.of(own_largest)), use.in(rows.of(largest)),
                                      use.in(rows.of(sum)), use.changed(rows.of(logits)));
    });
}

void CpuOperators::count_correct(const CrossEntropy& loss, ConstTensorView targets,
                                 ConstTensorView logits, TensorView total) {
    total.as<double>()[0] +=
        walk_.sum(rows_of(logits), logits.shape.columns(), [&](Fp32Operands& use, Rows rows) {
            return static_cast<double>(loops::correct_predictions(
                loss, rows.of(targets).as<std::int32_t>(), use.in(rows.of(logits))));
        });
}

}  // namespace debubble::exec
