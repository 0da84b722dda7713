#include "exec/cuda/kernels/reduce.h"

#include "exec/cuda/kernels/load.h"

namespace debubble::exec::cuda {

namespace {

template <class T>
__device__ T joined(T a, T b, bool largest) {
    if (largest) return b > a || b != b ? b : a;
    return a + b;
}

/// Reduces types that are computed in fp32.
__global__ void reduce_kernel(std::int64_t n, Type type, bool largest, Parties parties) {
    const ElementRun run = run_of_thread(n);
    if (run.count == 0) return;
    Vec8 values = load_run({parties.from[0], type}, run);
    for (int s = 1; s < parties.sources; ++s) {
        const Vec8 more = load_run({parties.from[s], type}, run);
        for (int i = 0; i < kElementsEach; ++i)
            values.at[i] = joined(values.at[i], more.at[i], largest);
    }
    for (int t = 0; t < parties.targets; ++t) store_run({parties.to[t], type}, run, values);
}

__global__ void reduce_doubles_kernel(std::int64_t n, bool largest, Parties parties) {
    const ElementRun run = run_of_thread(n);
    for (std::int64_t i = run.first; i < run.first + run.count; ++i) {
        double value = static_cast<const double*>(parties.from[0])[i];
        for (int s = 1; s < parties.sources; ++s)
            value = joined(value, static_cast<const double*>(parties.from[s])[i], largest);
        for (int t = 0; t < parties.targets; ++t) static_cast<double*>(parties.to[t])[i] = value;
    }
}

/// Sums wrap round, as unsigned ones do.
__global__ void reduce_integers_kernel(std::int64_t n, bool largest, Parties parties) {
    const ElementRun run = run_of_thread(n);
    for (std::int64_t i = run.first; i < run.first + run.count; ++i) {
        unsigned value = static_cast<const unsigned*>(parties.from[0])[i];
        for (int s = 1; s < parties.sources; ++s) {
            const unsigned more = static_cast<const unsigned*>(parties.from[s])[i];
            if (!largest)
                value += more;
            else if (static_cast<int>(more) > static_cast<int>(value))
                value = more;
        }
        for (int t = 0; t < parties.targets; ++t) static_cast<unsigned*>(parties.to[t])[i] = value;
    }
}

}  // namespace

void reduce(Stream stream, std::int64_t n, Type type, bool largest, const Parties& parties) {
    const Geometry how = over_elements(n);
    switch (type) {
        case Type::Fp64:
            return launch("reduce_doubles", reduce_doubles_kernel, how, stream, n, largest,
                          parties);
        case Type::Int32:
            return launch("reduce_integers", reduce_integers_kernel, how, stream, n, largest,
                          parties);
        default: return launch("reduce", reduce_kernel, how, stream, n, type, largest, parties);
    }
}

}  // namespace debubble::exec::cuda
