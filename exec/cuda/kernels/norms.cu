#include "exec/cuda/kernels/layers.h"

#include "exec/cuda/kernels/load.h"

/// A pragma for loops over the runs of a row: their number is known where they stay in registers.
#if defined(__CUDACC__)
#define DEBUBBLE_UNROLL_BY_RUNS _Pragma("unroll (kRuns > 0 ? kRuns : 1)")
#else
#define DEBUBBLE_UNROLL_BY_RUNS
#endif

namespace debubble::exec::cuda {

namespace {

__device__ float over_row(float mine) {
    return over_block(mine, Add{}, shared_memory<float>());
}

/// A thread's part of a row: kRuns runs in registers, or, if kRuns is 0, any number of runs that
/// are read again.
template <int kRuns>
struct RowInRegisters {
    Vec8 at[kRuns > 0 ? kRuns : 1];

    __device__ static int turns(std::int64_t hidden) {
        if constexpr (kRuns > 0) return kRuns;
        const int turn = thread_count() * kElementsEach;
        return (static_cast<int>(hidden) + turn - 1) / turn;
    }
    __device__ void keep(int turn, const Vec8& run) {
        if constexpr (kRuns > 0) at[turn] = run;
    }
    template <class Read>
    __device__ Vec8 get(int turn, const Read& read) const {
        if constexpr (kRuns > 0) return at[turn];
        return read(turn);
    }
};

/// A block takes a row.
template <int kRuns>
__global__ void __launch_bounds__(kNormThreads, 1)
    norm_forward_kernel(NormShape shape, float eps, NormInput input, Operand weight, Operand bias,
                        Result y, float* statistics) {
    const std::int64_t row = block_index(), first = row * shape.hidden;
    const std::int64_t first_x = row * shape.x_columns;
    const auto width = static_cast<float>(shape.hidden);
    const int turns = RowInRegisters<kRuns>::turns(shape.hidden);
    RowInRegisters<kRuns> kept;
    float sum = 0;
    DEBUBBLE_UNROLL_BY_RUNS
    for (int r = 0; r < turns; ++r) {
        const ElementRun columns = run_of_row(shape.hidden, r), run = shifted(columns, first);
        Vec8 x = load_run(input.x, shifted(columns, first_x));
        if (input.branch) {
            const Vec8 branch = load_run(input.branch, run);
            DEBUBBLE_UNROLL
            for (int i = 0; i < kElementsEach; ++i) x.at[i] += branch.at[i];
            x = rounded(input.sum.type, x);  // the value that later readers of the sum will get
            store_run(input.sum, run, x);
        }
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) sum += x.at[i];
        kept.keep(r, x);
    }
    const auto again = [=](int r) {
        const Operand x = input.branch ? Operand(input.sum) : input.x;
        return load_run(x, shifted(run_of_row(shape.hidden, r), input.branch ? first : first_x));
    };
    const float mean = shape.kind == Norm::Layer ? over_row(sum) / width : 0.F;
    float squares = 0;
    DEBUBBLE_UNROLL_BY_RUNS
    for (int r = 0; r < turns; ++r) {
        const int count = run_of_row(shape.hidden, r).count;
        const Vec8 x = kept.get(r, again);
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) {
            const float off = i < count ? x.at[i] - mean : 0.F;
            squares += off * off;
        }
    }
    const float scale = 1.F / sqrtf(over_row(squares) / width + eps);
    DEBUBBLE_UNROLL_BY_RUNS
    for (int r = 0; r < turns; ++r) {
        const ElementRun columns = run_of_row(shape.hidden, r);
        Vec8 x = kept.get(r, again);
        const Vec8 w = load_run(weight, columns);
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) x.at[i] = (x.at[i] - mean) * scale * w.at[i];
        if (bias) {
            const Vec8 b = load_run(bias, columns);
            DEBUBBLE_UNROLL
            for (int i = 0; i < kElementsEach; ++i) x.at[i] += b.at[i];
        }
        store_run(y, shifted(columns, first), x);
    }
    if (thread_index() != 0) return;
    if (shape.kind == Norm::Rms) {
        statistics[row] = scale;
    } else {
        statistics[2 * row] = mean;
        statistics[2 * row + 1] = scale;
    }
}

/// The numbers that normalise a row's x.
struct RowScale {
    float mean = 0;
    float scale = 1;
    __device__ float operator()(float x) const { return (x - mean) * scale; }
};
__device__ RowScale scale_of(Norm kind, const float* statistics, std::int64_t row) {
    if (kind == Norm::Rms) return {0.F, statistics[row]};
    return {statistics[2 * row], statistics[2 * row + 1]};
}

/// With g = dy * weight: dx = scale (g - mean(g) - xhat mean(g xhat)). RMSNorm subtracts no mean,
/// so neither does its gradient.
template <int kRuns>
__global__ void __launch_bounds__(kNormThreads, 1)
    norm_backward_input_kernel(NormShape shape, Operand dy, Operand x, Operand weight,
                               const float* statistics, Operand through, Result dx) {
    const std::int64_t row = block_index(), first = row * shape.hidden;
    const std::int64_t first_x = row * shape.x_columns;
    const RowScale normalised = scale_of(shape.kind, statistics, row);
    const auto width = static_cast<float>(shape.hidden);
    const int turns = RowInRegisters<kRuns>::turns(shape.hidden);
    const auto read_g = [=](int r) {
        const ElementRun columns = run_of_row(shape.hidden, r);
        Vec8 g = load_run(dy, shifted(columns, first));
        const Vec8 w = load_run(weight, columns);  // 0 beyond the row
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) g.at[i] *= w.at[i];
        return g;
    };
    const auto read_xhat = [=](int r) {
        Vec8 xhat = load_run(x, shifted(run_of_row(shape.hidden, r), first_x));
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) xhat.at[i] = normalised(xhat.at[i]);
        return xhat;
    };
    RowInRegisters<kRuns> kept_g, kept_xhat;
    float sum_g = 0, sum_gx = 0;
    DEBUBBLE_UNROLL_BY_RUNS
    for (int r = 0; r < turns; ++r) {
        const Vec8 g = read_g(r), xhat = read_xhat(r);
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) {
            sum_g += g.at[i];
            sum_gx += g.at[i] * xhat.at[i];
        }
        kept_g.keep(r, g);
        kept_xhat.keep(r, xhat);
    }
    const float mean_g = shape.kind == Norm::Layer ? over_row(sum_g) / width : 0.F;
    const float mean_gx = over_row(sum_gx) / width;
    DEBUBBLE_UNROLL_BY_RUNS
    for (int r = 0; r < turns; ++r) {
        const ElementRun run = shifted(run_of_row(shape.hidden, r), first_x);
        const Vec8 g = kept_g.get(r, read_g), xhat = kept_xhat.get(r, read_xhat);
        Vec8 total{};
        if (through) total = load_run(through, run);
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i)
            total.at[i] += normalised.scale * (g.at[i] - mean_g - xhat.at[i] * mean_gx);
        store_run(dx, run, total);
    }
}

/// The terms of a sum over rows: for each of its sums eight columns of a row. Where they are
/// contiguous, kAhead rows are fetched before the first is added.
struct RowTerm {
    static constexpr int kSums = 1, kAhead = 4;
    using Fetched = Packed128;
    Operand x;
    __device__ bool lie_together(std::int64_t, ElementRun run) const {
        return is_aligned_run(x, run);
    }
    __device__ Fetched fetched(std::int64_t, std::int64_t first) const { return fetch(x, first); }
    __device__ void add(const Fetched& row, Vec8 (&sums)[1]) const {
        add(unpacked(x.type, row), sums);
    }
    __device__ void add(std::int64_t, ElementRun run, Vec8 (&sums)[1]) const {
        add(load_run(x, run), sums);
    }
    __device__ static void add(const Vec8& values, Vec8 (&sums)[1]) {
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) sums[0].at[i] += values.at[i];
    }
};
template <Norm kKind>
struct NormTerm {
    static constexpr int kSums = kKind == Norm::Layer ? 2 : 1, kAhead = 2;
    struct Fetched {
        Packed128 above, values;
        RowScale normalised;
    };
    Operand dy, x;
    const float* statistics;
    std::int64_t wider;  ///< columns that a row of x has beyond those of dy
    __device__ bool lie_together(std::int64_t row, ElementRun run) const {
        return wider % kElementsEach == 0 && is_aligned_run(dy, run) &&
               is_aligned_run(x, shifted(run, row * wider));
    }
    __device__ Fetched fetched(std::int64_t row, std::int64_t first) const {
        return {fetch(dy, first), fetch(x, first + row * wider), scale_of(kKind, statistics, row)};
    }
    __device__ void add(const Fetched& row, Vec8 (&sums)[kSums]) const {
        add(unpacked(dy.type, row.above), unpacked(x.type, row.values), row.normalised, sums);
    }
    __device__ void add(std::int64_t row, ElementRun run, Vec8 (&sums)[kSums]) const {
        add(load_run(dy, run), load_run(x, shifted(run, row * wider)),
            scale_of(kKind, statistics, row), sums);
    }
    __device__ static void add(const Vec8& above, const Vec8& values, const RowScale& normalised,
                               Vec8 (&sums)[kSums]) {
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) {
            sums[0].at[i] += above.at[i] * normalised(values.at[i]);
            if constexpr (kSums == 2) sums[1].at[i] += above.at[i];
        }
    }
};

/// The rows of x, each times its factor.
struct WeightedTerm {
    static constexpr int kSums = 1, kAhead = 4;
    struct Fetched {
        Packed128 values;
        float factor;
    };
    Operand x;
    const float* factors;
    __device__ bool lie_together(std::int64_t, ElementRun run) const {
        return is_aligned_run(x, run);
    }
    __device__ Fetched fetched(std::int64_t row, std::int64_t first) const {
        return {fetch(x, first), factors[row]};
    }
    __device__ void add(const Fetched& row, Vec8 (&sums)[kSums]) const {
        add(unpacked(x.type, row.values), row.factor, sums);
    }
    __device__ void add(std::int64_t row, ElementRun run, Vec8 (&sums)[kSums]) const {
        add(load_run(x, run), factors[row], sums);
    }
    __device__ static void add(const Vec8& values, float factor, Vec8 (&sums)[kSums]) {
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) sums[0].at[i] += factor * values.at[i];
    }
};

template <class Term>
__global__ void column_sums_kernel(std::int64_t rows, std::int64_t columns, std::int64_t chunks,
                                   Term term, float* partials) {
    const std::int64_t across = ceil_div(columns, std::int64_t{kElementsEach});
    const std::int64_t index = block_index() * thread_count() + thread_index();
    const std::int64_t chunk = index / across, column = index % across * kElementsEach;
    if (chunk >= chunks) return;
    const std::int64_t left = columns - column;
    const int count = left < kElementsEach ? static_cast<int>(left) : kElementsEach;
    Vec8 sums[Term::kSums] = {};
    const std::int64_t end = first_of_chunk(chunk + 1, chunks, rows);
    std::int64_t row = first_of_chunk(chunk, chunks, rows);
    // All rows have the same alignment.
    if (columns % kElementsEach == 0 && term.lie_together(row, {row * columns + column, count})) {
        for (; row + Term::kAhead <= end; row += Term::kAhead) {
            typename Term::Fetched ahead[Term::kAhead];
            DEBUBBLE_UNROLL
            for (int i = 0; i < Term::kAhead; ++i)
                ahead[i] = term.fetched(row + i, (row + i) * columns + column);
            DEBUBBLE_UNROLL
            for (int i = 0; i < Term::kAhead; ++i) term.add(ahead[i], sums);
        }
    }
    for (; row < end; ++row) term.add(row, {row * columns + column, count}, sums);
    DEBUBBLE_UNROLL
    for (int s = 0; s < Term::kSums; ++s)
        store_run({partials, Type::Fp32}, {(s * chunks + chunk) * columns + column, count},
                  sums[s]);
}

/// Each warp has a part of the chunks; the first warp adds the parts in their order.
__global__ void add_partials_kernel(std::int64_t chunks, std::int64_t columns,
                                    const float* partials, Result total) {
    const int lane = thread_index() % kWarp, part = thread_index() / kWarp;
    const int parts = thread_count() / kWarp;
    const std::int64_t column = block_index() * kWarp + lane;
    float sum = 0;
    if (column < columns)
        for (std::int64_t chunk = first_of_chunk(part, parts, chunks);
             chunk < first_of_chunk(part + 1, parts, chunks); ++chunk)
            sum += partials[chunk * columns + column];
    auto* const sums = shared_memory<float>();
    sums[thread_index()] = sum;
    block_barrier();
    if (part != 0 || column >= columns) return;
    float all = load(total, column);
    for (int p = 0; p < parts; ++p) all += sums[p * kWarp + lane];
    store(total, column, all);
}

/// `totals` has one operand for each of the term's sums.
template <class Term>
void add_sums(const char* name, Stream stream, std::int64_t rows, std::int64_t columns,
              const Term& term, float* partials, const Result (&totals)[Term::kSums]) {
    if (rows == 0) return;
    const std::int64_t chunks = chunks_of(rows);
    launch(name, column_sums_kernel<Term>, over_column_chunks(rows, columns), stream, rows, columns,
           chunks, term, partials);
    for (int s = 0; s < Term::kSums; ++s)
        if (totals[s])
            launch(name, add_partials_kernel, over_columns(columns), stream, chunks, columns,
                   partials + s * chunks * columns, totals[s]);
}

}  // namespace

void norm_forward(Stream stream, const NormShape& shape, float eps, const NormInput& input,
                  Operand weight, Operand bias, Result y, float* statistics) {
    const Geometry how = over_norm_rows(shape.rows, shape.hidden);
    const auto with = [&](auto kernel) {
        launch("norm_forward", kernel, how, stream, shape, eps, input, weight, bias, y, statistics);
    };
    switch (runs_of_norm(shape.hidden)) {
        case 1: return with(norm_forward_kernel<1>);
        case 2: return with(norm_forward_kernel<2>);
        case 4: return with(norm_forward_kernel<4>);
        default: return with(norm_forward_kernel<0>);
    }
}

void norm_backward_input(Stream stream, const NormShape& shape, Operand dy, Operand x,
                         Operand weight, const float* statistics, Operand through, Result dx) {
    const Geometry how = over_norm_rows(shape.rows, shape.hidden);
    const auto with = [&](auto kernel) {
        launch("norm_backward_input", kernel, how, stream, shape, dy, x, weight, statistics,
               through, dx);
    };
    switch (runs_of_norm(shape.hidden)) {
        case 1: return with(norm_backward_input_kernel<1>);
        case 2: return with(norm_backward_input_kernel<2>);
        case 4: return with(norm_backward_input_kernel<4>);
        default: return with(norm_backward_input_kernel<0>);
    }
}

void norm_backward_weight(Stream stream, const NormShape& shape, Operand dy, Operand x,
                          const float* statistics, float* partials, Result dweight, Result dbias) {
    const std::int64_t wider = shape.x_columns - shape.hidden;
    if (shape.kind == Norm::Rms)
        add_sums("norm_backward_weight", stream, shape.rows, shape.hidden,
                 NormTerm<Norm::Rms>{dy, x, statistics, wider}, partials, {dweight});
    else
        add_sums("norm_backward_weight", stream, shape.rows, shape.hidden,
                 NormTerm<Norm::Layer>{dy, x, statistics, wider}, partials, {dweight, dbias});
}

void add_column_sums(Stream stream, std::int64_t rows, std::int64_t columns, Operand x,
                     float* partials, Result total) {
    add_sums("add_column_sums", stream, rows, columns, RowTerm{x}, partials, {total});
}

void add_weighted_column_sums(Stream stream, std::int64_t rows, std::int64_t columns, Operand x,
                              const float* factors, float* partials, Result total) {
    add_sums("add_weighted_column_sums", stream, rows, columns, WeightedTerm{x, factors}, partials,
             {total});
}

}  // namespace debubble::exec::cuda
