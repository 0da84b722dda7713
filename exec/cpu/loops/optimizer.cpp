#include "exec/cpu/loops/optimizer.h"

#include <algorithm>
#include <cmath>

#include "exec/cpu/loops/sums.h"
#include "exec/cpu/vectorise.h"

namespace debubble::exec::loops {

void adam_step(const AdamOptions& options, std::int64_t step, double factor, double decays_to,
               In gradient, Out parameter, Out first_moment, Out second_moment) {
    assert(step >= 1 && gradient.size() == parameter.size() &&
           first_moment.size() == parameter.size() && second_moment.size() == parameter.size() &&
           "a moment of each kind for every parameter");
    const auto steps = static_cast<double>(step);
    const double correction1 = 1 - std::pow(options.beta1, steps);
    const double correction2 = 1 - std::pow(options.beta2, steps);
    const auto step_size = static_cast<float>(options.lr / correction1);
    const auto root2 = static_cast<float>(std::sqrt(correction2));
    const auto beta1 = static_cast<float>(options.beta1);
    const auto beta2 = static_cast<float>(options.beta2);
    const auto rest1 = static_cast<float>(1 - options.beta1);
    const auto rest2 = static_cast<float>(1 - options.beta2);
    const auto eps = static_cast<float>(options.eps);
    const auto unscale = static_cast<float>(factor);
    const auto coupled = static_cast<float>(options.decoupled ? 0 : options.weight_decay);
    const auto kept =
        static_cast<float>(options.decoupled ? 1 - options.lr * options.weight_decay : 1);
    // The factor that decay leaves of the distance to the centre, and the centre's own part.
    const auto centre = static_cast<float>(decays_to);
    const float returned = centre * (1 - kept);
    vectorised([=]() DEBUBBLE_INLINE {
        const std::int64_t count = parameter.size();
        for (std::int64_t i = 0; i < count; ++i) {
            const float before = parameter[i] * kept + returned;
            const float g = gradient[i] * unscale + coupled * (before - centre);
            const float m = first_moment[i] * beta1 + rest1 * g;
            const float v = second_moment[i] * beta2 + rest2 * g * g;
            first_moment[i] = m;
            second_moment[i] = v;
            parameter[i] = before - step_size * (m / (std::sqrt(v) / root2 + eps));
        }
    });
}

void sgd_step(const SgdOptions& options, std::int64_t step, double factor, double decays_to,
              In gradient, Out parameter, Out velocity) {
    assert(step >= 1 && gradient.size() == parameter.size() && "a gradient for every parameter");
    assert((options.momentum == 0 || velocity.size() == parameter.size()) &&
           "momentum needs a velocity for every parameter");
    const auto lr = static_cast<float>(options.lr);
    const auto unscale = static_cast<float>(factor);
    const auto decay = static_cast<float>(options.weight_decay);
    const auto centre = static_cast<float>(decays_to);
    const auto momentum = static_cast<float>(options.momentum);
    const auto taken = static_cast<float>(step == 1 ? 1 : 1 - options.dampening);
    const float carried = step == 1 ? 0.F : momentum;
    const std::int64_t count = parameter.size();
    for (std::int64_t i = 0; i < count; ++i) {
        float g = gradient[i] * unscale + decay * (parameter[i] - centre);
        if (options.momentum != 0) {
            velocity[i] = (step == 1 ? 0.F : carried * velocity[i]) + taken * g;
            g = options.nesterov ? g + momentum * velocity[i] : velocity[i];
        }
        parameter[i] -= lr * g;
    }
}

double sum_of_squares(In gradient) {
    double sum = 0;
    double* to = &sum;
    vectorised([=]() DEBUBBLE_INLINE {
        *to = sum_of<double>(gradient.size(), [=](std::int64_t i) {
            return static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
        });
    });
    return sum;
}

void scale(double factor, Out x) {
    const auto by = static_cast<float>(factor);
    vectorised([=]() DEBUBBLE_INLINE {
        const std::int64_t count = x.size();
        for (std::int64_t i = 0; i < count; ++i) x[i] *= by;
    });
}

}  // namespace debubble::exec::loops
