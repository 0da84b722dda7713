#include "exec/cuda/kernels/optimizer.h"

#include <cmath>

#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/kernels/geometry.h"
#include "exec/cuda/operators/views.h"

namespace debubble::exec::cuda {

void CudaKernels::adam_step(const AdamOptions& options, std::int64_t step, double gradient_factor,
                            double decays_to, ConstTensorView gradient, TensorView main,
                            TensorView first_moment, TensorView second_moment,
                            TensorView parameter) {
    const auto steps = static_cast<double>(step);
    AdamNumbers use;
    use.step_size = static_cast<float>(options.lr / (1 - std::pow(options.beta1, steps)));
    use.root2 = static_cast<float>(std::sqrt(1 - std::pow(options.beta2, steps)));
    use.beta1 = static_cast<float>(options.beta1);
    use.beta2 = static_cast<float>(options.beta2);
    use.rest1 = static_cast<float>(1 - options.beta1);
    use.rest2 = static_cast<float>(1 - options.beta2);
    use.eps = static_cast<float>(options.eps);
    use.unscale = static_cast<float>(gradient_factor);
    if (options.decoupled)
        use.kept = static_cast<float>(1 - options.lr * options.weight_decay);
    else
        use.coupled = static_cast<float>(options.weight_decay);
    use.centre = static_cast<float>(decays_to);
    use.returned = use.centre * (1 - use.kept);
    cuda::adam_step(queue_.stream(), main.shape.elements(), use, in(gradient), out(main),
                    out(first_moment), out(second_moment), out(parameter));
}

void CudaKernels::sgd_step(const SgdOptions& options, std::int64_t step, double gradient_factor,
                           double decays_to, ConstTensorView gradient, TensorView main,
                           TensorView velocity, TensorView parameter) {
    SgdNumbers use;
    use.lr = static_cast<float>(options.lr);
    use.unscale = static_cast<float>(gradient_factor);
    use.decay = static_cast<float>(options.weight_decay);
    use.centre = static_cast<float>(decays_to);
    use.momentum = static_cast<float>(options.momentum);
    use.first = step == 1;
    use.taken = static_cast<float>(use.first ? 1 : 1 - options.dampening);
    use.nesterov = options.nesterov;
    cuda::sgd_step(queue_.stream(), main.shape.elements(), use, in(gradient), out(main),
                   out(velocity), out(parameter));
}

void CudaKernels::sum_of_squares(ConstTensorView gradient, TensorView total) {
    add_sum_of_squares(queue_.stream(), gradient.shape.elements(), in(gradient),
                       static_cast<double*>(scratch_.bytes(kMaxPartials * 8)),
                       elements<double>(total));
}

}  // namespace debubble::exec::cuda
