#include "exec/cuda/kernels/optimizer.h"

#include "exec/cuda/kernels/load.h"

namespace debubble::exec::cuda {

namespace {

/// The same elements in a flat tensor and in the whole matrix.
struct BothRuns {
    ElementRun local, in_whole;
};

/// How many of a slice's elements are read at once: a run stays in its row where rows are whole
/// runs.
__device__ int side_by_side(const SliceOfMatrix& slice) {
    return slice.column_stride == 1 && slice.columns % kElementsEach == 0 ? kElementsEach : 1;
}

__device__ BothRuns places_of(const SliceOfMatrix& slice, std::int64_t at, int count) {
    const std::int64_t row = at / slice.columns, column = at % slice.columns;
    return {{slice.first + row * slice.row_stride + column * slice.column_stride, count},
            {slice.first_in_whole + row * slice.whole_row + column, count}};
}

__global__ void muon_momentum_kernel(SliceOfMatrix slice, MomentumNumbers use, Operand gradient,
                                     Result moment, Result whole) {
    const ElementRun run = run_of_thread(slice.rows * slice.columns);
    const int each = side_by_side(slice);
    for (int done = 0; done < run.count; done += each) {
        const BothRuns at = places_of(slice, run.first + done, each);
        const Vec8 g = load_run(gradient, at.local);
        Vec8 m = load_run(moment, at.local);
        Vec8 taken;
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) {
            const float slope = g.at[i] * use.factor;
            m.at[i] += (1 - use.momentum) * (slope - m.at[i]);
            taken.at[i] = use.nesterov ? slope + use.momentum * (m.at[i] - slope) : m.at[i];
        }
        store_run(moment, at.local, m);
        store_run(whole, at.in_whole, taken);
    }
}

__global__ void muon_step_kernel(SliceOfMatrix slice, float kept, float rate, Operand whole,
                                 Result main, Result parameter) {
    const ElementRun run = run_of_thread(slice.rows * slice.columns);
    const int each = side_by_side(slice);
    for (int done = 0; done < run.count; done += each) {
        const BothRuns at = places_of(slice, run.first + done, each);
        const Vec8 along = load_run(whole, at.in_whole);
        Vec8 w = load_run(main, at.local);
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) w.at[i] = kept * w.at[i] - rate * along.at[i];
        store_run(main, at.local, w);
        if (parameter) store_run(parameter, at.local, w);
    }
}

__global__ void divide_by_root_kernel(std::int64_t n, const double* squares, double least,
                                      Result x) {
    const ElementRun run = run_of_thread(n);
    if (run.count == 0) return;
    const double by = 1 / (sqrt(*squares) + least);
    Vec8 values = load_run(x, run);
    DEBUBBLE_UNROLL
    for (float& value : values.at) value = static_cast<float>(static_cast<double>(value) * by);
    store_run(x, run, values);
}

__global__ void combine_kernel(std::int64_t n, float a, Operand x, float b, Result y) {
    const ElementRun run = run_of_thread(n);
    if (run.count == 0) return;
    const Vec8 term = load_run(x, run);
    Vec8 sum = load_run(y, run);
    DEBUBBLE_UNROLL
    for (int i = 0; i < kElementsEach; ++i) sum.at[i] = a * term.at[i] + b * sum.at[i];
    store_run(y, run, sum);
}

}  // namespace

void muon_momentum(Stream stream, const SliceOfMatrix& slice, const MomentumNumbers& numbers,
                   Operand gradient, Result moment, float* whole) {
    launch("muon_momentum", muon_momentum_kernel, over_elements(slice.elements()), stream, slice,
           numbers, gradient, moment, Result{whole});
}

void muon_step(Stream stream, const SliceOfMatrix& slice, float kept, float rate,
               const float* whole, Result main, Result parameter) {
    launch("muon_step", muon_step_kernel, over_elements(slice.elements()), stream, slice, kept,
           rate, Operand{whole}, main, parameter);
}

void divide_by_root(Stream stream, std::int64_t n, const double* squares, double least, float* x) {
    launch("scale_to_unit_norm", divide_by_root_kernel, over_elements(n), stream, n, squares, least,
           Result{x});
}

void combine(Stream stream, std::int64_t n, float a, const float* x, float b, float* y) {
    launch("combine", combine_kernel, over_elements(n), stream, n, a, Operand{x}, b, Result{y});
}

}  // namespace debubble::exec::cuda
