#include <cmath>

#include "tests/oracle/array.h"
#include "tests/oracle/oracle.h"

namespace debubble::exec {

/// torch.optim.Adam; `decoupled` makes it AdamW.
void Oracle::adam_step(const AdamOptions& options, std::int64_t step, double gradient_factor,
                       double decays_to, ConstTensorView gradient, TensorView main,
                       TensorView first_moment, TensorView second_moment, TensorView parameter) {
    const std::int64_t count = main.shape.elements();
    const auto grad = read(gradient, {count});
    const auto p = write(main, {count});
    const auto m = write(first_moment, {count}), v = write(second_moment, {count});
    const double correction1 = 1 - std::pow(options.beta1, double(step));
    const double correction2 = 1 - std::pow(options.beta2, double(step));
    for (std::int64_t i = 0; i < count; ++i) {
        double g = grad(i) * gradient_factor;
        if (options.decoupled) {
            p(i) -= options.lr * options.weight_decay * (p(i) - decays_to);
        } else {
            g += options.weight_decay * (p(i) - decays_to);
        }
        m(i) = options.beta1 * m(i) + (1 - options.beta1) * g;
        v(i) = options.beta2 * v(i) + (1 - options.beta2) * g * g;
        p(i) -= options.lr * (m(i) / correction1) / (std::sqrt(v(i) / correction2) + options.eps);
    }
    if (parameter) copy(main, parameter);
}

/// torch.optim.SGD, whose velocity is the gradient at its first step.
void Oracle::sgd_step(const SgdOptions& options, std::int64_t step, double gradient_factor,
                      double decays_to, ConstTensorView gradient, TensorView main,
                      TensorView velocity, TensorView parameter) {
    const std::int64_t count = main.shape.elements();
    const auto grad = read(gradient, {count});
    const auto p = write(main, {count});
    for (std::int64_t i = 0; i < count; ++i) {
        double g = grad(i) * gradient_factor + options.weight_decay * (p(i) - decays_to);
        if (options.momentum != 0) {
            const auto b = write(velocity, {count});
            b(i) = step == 1 ? g : options.momentum * b(i) + (1 - options.dampening) * g;
            g = options.nesterov ? g + options.momentum * b(i) : b(i);
        }
        p(i) -= options.lr * g;
    }
    if (parameter) copy(main, parameter);
}

void Oracle::sum_of_squares(ConstTensorView gradient, TensorView total) {
    const std::int64_t count = gradient.shape.elements();
    const auto g = read(gradient, {count});
    for (std::int64_t i = 0; i < count; ++i) total.as<double>()[0] += g(i) * g(i);
}

}  // namespace debubble::exec
