#include "exec/cpu/fixed_order/optimizer.h"

#include <algorithm>
#include <cmath>

#include "exec/cpu/fixed_order/sums.h"
#include "exec/cpu/fixed_order/vectorise.h"

namespace debubble::exec::fixed_order {

template <Real T>
void adam_step(const AdamOptions& options, std::int64_t step, double factor, In<T> gradient,
               Out<T> parameter, Out<T> first_moment, Out<T> second_moment) {
    assert(step >= 1 && gradient.size() == parameter.size() &&
           first_moment.size() == parameter.size() && second_moment.size() == parameter.size() &&
           "a moment of each kind for every parameter");
    const auto steps = static_cast<double>(step);
    const double correction1 = 1 - std::pow(options.beta1, steps);
    const double correction2 = 1 - std::pow(options.beta2, steps);
    const auto step_size = static_cast<T>(options.lr / correction1);
    const auto root2 = static_cast<T>(std::sqrt(correction2));
    const auto beta1 = static_cast<T>(options.beta1);
    const auto beta2 = static_cast<T>(options.beta2);
    const auto rest1 = static_cast<T>(1 - options.beta1);
    const auto rest2 = static_cast<T>(1 - options.beta2);
    const auto eps = static_cast<T>(options.eps);
    const auto unscale = static_cast<T>(factor);
    const auto coupled = static_cast<T>(options.decoupled ? 0 : options.weight_decay);
    const auto kept = static_cast<T>(options.decoupled ? 1 - options.lr * options.weight_decay : 1);
    vectorised([=]() DEBUBBLE_INLINE {
        const std::int64_t count = parameter.size();
        for (std::int64_t i = 0; i < count; ++i) {
            const T before = parameter[i] * kept;
            const T g = gradient[i] * unscale + coupled * before;
            const T m = first_moment[i] * beta1 + rest1 * g;
            const T v = second_moment[i] * beta2 + rest2 * g * g;
            first_moment[i] = m;
            second_moment[i] = v;
            parameter[i] = before - step_size * (m / (std::sqrt(v) / root2 + eps));
        }
    });
}

template <Real T>
void sgd_step(const SgdOptions& options, std::int64_t step, double factor, In<T> gradient,
              Out<T> parameter, Out<T> velocity) {
    assert(step >= 1 && gradient.size() == parameter.size() && "a gradient for every parameter");
    assert((options.momentum == 0 || velocity.size() == parameter.size()) &&
           "momentum needs a velocity for every parameter");
    const auto lr = static_cast<T>(options.lr);
    const auto unscale = static_cast<T>(factor);
    const auto decay = static_cast<T>(options.weight_decay);
    const auto momentum = static_cast<T>(options.momentum);
    const auto taken = static_cast<T>(step == 1 ? 1 : 1 - options.dampening);
    const T carried = step == 1 ? T{0} : momentum;
    const std::int64_t count = parameter.size();
    for (std::int64_t i = 0; i < count; ++i) {
        T g = gradient[i] * unscale + decay * parameter[i];
        if (options.momentum != 0) {
            velocity[i] = (step == 1 ? T{0} : carried * velocity[i]) + taken * g;
            g = options.nesterov ? g + momentum * velocity[i] : velocity[i];
        }
        parameter[i] -= lr * g;
    }
}

template <Real T>
double sum_of_squares(View<const T> gradient) {
    double sum = 0;
    double* to = &sum;
    vectorised([=]() DEBUBBLE_INLINE {
        *to = sum_of<double>(gradient.size(), [=](std::int64_t i) {
            return static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
        });
    });
    return sum;
}

template <Real T>
void scale(double factor, Out<T> x) {
    const auto by = static_cast<T>(factor);
    vectorised([=]() DEBUBBLE_INLINE {
        const std::int64_t count = x.size();
        for (std::int64_t i = 0; i < count; ++i) x[i] *= by;
    });
}

#define INSTANTIATE(T)                                                                          \
    template void adam_step<T>(const AdamOptions&, std::int64_t, double, In<T>, Out<T>, Out<T>, \
                               Out<T>);                                                         \
    template void sgd_step<T>(const SgdOptions&, std::int64_t, double, In<T>, Out<T>, Out<T>);  \
    template double sum_of_squares<T>(View<const T>);                                           \
    template void scale<T>(double, Out<T>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace debubble::exec::fixed_order
