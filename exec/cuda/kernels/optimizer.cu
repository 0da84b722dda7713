#include "exec/cuda/kernels/optimizer.h"

#include "exec/cuda/kernels/load.h"

namespace debubble::exec::cuda {

namespace {

__global__ void adam_kernel(std::int64_t n, AdamNumbers use, Operand gradient, Result main,
                            Result first_moment, Result second_moment, Result parameter) {
    const ElementRun run = run_of_thread(n);
    if (run.count == 0) return;
    const Vec8 g = load_run(gradient, run);
    Vec8 w = load_run(main, run);
    Vec8 m = load_run(first_moment, run);
    Vec8 v = load_run(second_moment, run);
    for (int i = 0; i < kElementsEach; ++i) {
        const float before = w.at[i] * use.kept + use.returned;
        const float slope = g.at[i] * use.unscale + use.coupled * (before - use.centre);
        m.at[i] = m.at[i] * use.beta1 + use.rest1 * slope;
        v.at[i] = v.at[i] * use.beta2 + use.rest2 * slope * slope;
        w.at[i] = before - use.step_size * (m.at[i] / (sqrtf(v.at[i]) / use.root2 + use.eps));
    }
    store_run(main, run, w);
    store_run(first_moment, run, m);
    store_run(second_moment, run, v);
    if (parameter) store_run(parameter, run, w);
}

__global__ void sgd_kernel(std::int64_t n, SgdNumbers use, Operand gradient, Result main,
                           Result velocity, Result parameter) {
    const ElementRun run = run_of_thread(n);
    if (run.count == 0) return;
    const Vec8 g = load_run(gradient, run);
    Vec8 w = load_run(main, run);
    Vec8 v{};
    if (use.momentum != 0 && !use.first) v = load_run(velocity, run);
    for (int i = 0; i < kElementsEach; ++i) {
        float slope = g.at[i] * use.unscale + use.decay * (w.at[i] - use.centre);
        if (use.momentum != 0) {
            v.at[i] = (use.first ? 0.F : use.momentum * v.at[i]) + use.taken * slope;
            slope = use.nesterov ? slope + use.momentum * v.at[i] : v.at[i];
        }
        w.at[i] -= use.lr * slope;
    }
    if (use.momentum != 0) store_run(velocity, run, v);
    store_run(main, run, w);
    if (parameter) store_run(parameter, run, w);
}

__global__ void squares_kernel(std::int64_t n, Operand x, double* partials) {
    double mine = 0;
    const std::int64_t stride = block_count() * thread_count();
    for (std::int64_t i = block_index() * thread_count() + thread_index(); i < n; i += stride) {
        const auto value = static_cast<double>(load(x, i));
        mine += value * value;
    }
    const double all = over_block(mine, Add{}, shared_memory<double>());
    if (thread_index() == 0) partials[block_index()] = all;
}

__global__ void add_partials_kernel(std::int64_t count, const double* partials, double* total) {
    double mine = 0;
    for (std::int64_t i = thread_index(); i < count; i += thread_count()) mine += partials[i];
    const double all = over_block(mine, Add{}, shared_memory<double>());
    if (thread_index() == 0) *total += all;
}

}  // namespace

void adam_step(Stream stream, std::int64_t n, const AdamNumbers& numbers, Operand gradient,
               Result main, Result first_moment, Result second_moment, Result parameter) {
    launch("adam_step", adam_kernel, over_elements(n), stream, n, numbers, gradient, main,
           first_moment, second_moment, parameter);
}

void sgd_step(Stream stream, std::int64_t n, const SgdNumbers& numbers, Operand gradient,
              Result main, Result velocity, Result parameter) {
    launch("sgd_step", sgd_kernel, over_elements(n), stream, n, numbers, gradient, main, velocity,
           parameter);
}

void add_sum_of_squares(Stream stream, std::int64_t n, Operand x, double* partials, double* total) {
    const Geometry how = over_partials(n);
    if (how.blocks == 0) return;
    launch("sum_of_squares", squares_kernel, how, stream, n, x, partials);
    launch("sum_of_squares", add_partials_kernel, over_rows(1), stream, how.blocks, partials,
           total);
}

}  // namespace debubble::exec::cuda
