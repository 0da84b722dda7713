#include "exec/cpu/loops/optimizer.h"
#include "exec/cpu/fp32_operands.h"
#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

void CpuOperators::adam_step(const AdamOptions& options, std::int64_t step, double gradient_factor,
                             double decays_to, ConstTensorView gradient, TensorView main,
                             TensorView first_moment, TensorView second_moment,
                             TensorView parameter) {
    each_element(main, [&](Fp32Operands& use, Rows part) {
        const auto stepped = use.changed(part.of(main));
        loops::adam_step(options, step, gradient_factor, decays_to, use.in(part.of(gradient)),
                         stepped, use.changed(part.of(first_moment)),
                         use.changed(part.of(second_moment)));
        if (parameter) narrow(stepped.data, part.of(parameter));
    });
}

void CpuOperators::sgd_step(const SgdOptions& options, std::int64_t step, double gradient_factor,
                            double decays_to, ConstTensorView gradient, TensorView main,
                            TensorView velocity, TensorView parameter) {
    each_element(main, [&](Fp32Operands& use, Rows part) {
        const auto stepped = use.changed(part.of(main));
        loops::sgd_step(options, step, gradient_factor, decays_to, use.in(part.of(gradient)),
                        stepped, use.changed(part.of(velocity)));
        if (parameter) narrow(stepped.data, part.of(parameter));
    });
}

void CpuOperators::sum_of_squares(ConstTensorView gradient, TensorView total) {
    total.as<double>()[0] +=
        walk_.sum(gradient.shape.elements(), 1, [&](Fp32Operands& use, Rows part) {
            return loops::sum_of_squares(use.in(part.of(gradient)));
        });
}

}  // namespace debubble::exec
