#include "exec/cuda/kernels/norms.h"

#include "exec/cuda/kernels/load.h"

namespace debubble::exec::cuda {

namespace {

/// The sum over a row of term(column), given to every thread of the row's block.
template <class Term>
__device__ float over_row(std::int64_t hidden, const Term& term) {
    float sum = 0;
    for (std::int64_t j = thread_index(); j < hidden; j += thread_count()) sum += term(j);
    return over_block(sum, Add{}, shared_memory<float>());
}

__global__ void layer_norm_forward_kernel(NormShape shape, float eps, Operand x, Operand weight,
                                          Operand bias, Result y, float* statistics) {
    const std::int64_t row = block_index(), first = row * shape.hidden;
    const auto width = static_cast<float>(shape.hidden);
    const float mean =
        over_row(shape.hidden, [&](std::int64_t j) { return load(x, first + j); }) / width;
    const float variance = over_row(shape.hidden,
                                    [&](std::int64_t j) {
                                        const float off = load(x, first + j) - mean;
                                        return off * off;
                                    }) /
                           width;
    const float scale = 1.F / sqrtf(variance + eps);
    for (std::int64_t j = thread_index(); j < shape.hidden; j += thread_count())
        store(y, first + j, (load(x, first + j) - mean) * scale * load(weight, j) + load(bias, j));
    if (thread_index() != 0) return;
    statistics[2 * row] = mean;
    statistics[2 * row + 1] = scale;
}

__global__ void rms_norm_forward_kernel(NormShape shape, float eps, Operand x, Operand weight,
                                        Result y, float* statistics) {
    const std::int64_t row = block_index(), first = row * shape.hidden;
    const float squares = over_row(
        shape.hidden, [&](std::int64_t j) { return load(x, first + j) * load(x, first + j); });
    const float scale = 1.F / sqrtf(squares / static_cast<float>(shape.hidden) + eps);
    for (std::int64_t j = thread_index(); j < shape.hidden; j += thread_count())
        store(y, first + j, load(x, first + j) * scale * load(weight, j));
    if (thread_index() == 0) statistics[row] = scale;
}

/// What a row's x is normalised by.
struct RowScale {
    float mean = 0;
    float scale = 1;
    __device__ float operator()(float x) const { return (x - mean) * scale; }
};
__device__ RowScale scale_of(Norm kind, const float* statistics, std::int64_t row) {
    if (kind == Norm::Rms) return {0.F, statistics[row]};
    return {statistics[2 * row], statistics[2 * row + 1]};
}

/// With g = dy * weight: dx = scale (g - mean(g) - xhat mean(g xhat)); RMSNorm takes no mean
/// away, so neither does its gradient.
__global__ void norm_backward_input_kernel(NormShape shape, Operand dy, Operand x, Operand weight,
                                           const float* statistics, Result dx, bool adds) {
    const std::int64_t row = block_index(), first = row * shape.hidden;
    const RowScale normalised = scale_of(shape.kind, statistics, row);
    const auto width = static_cast<float>(shape.hidden);
    const auto g = [&](std::int64_t j) { return load(dy, first + j) * load(weight, j); };
    const float mean_g = shape.kind == Norm::Layer ? over_row(shape.hidden, g) / width : 0.F;
    const float mean_gx =
        over_row(shape.hidden,
                 [&](std::int64_t j) { return g(j) * normalised(load(x, first + j)); }) /
        width;
    for (std::int64_t j = thread_index(); j < shape.hidden; j += thread_count()) {
        const float before = adds ? load(dx, first + j) : 0.F;
        const float xhat = normalised(load(x, first + j));
        store(dx, first + j, before + normalised.scale * (g(j) - mean_g - xhat * mean_gx));
    }
}

struct RowTerm {
    Operand x;
    std::int64_t columns;
    __device__ float operator()(std::int64_t row, std::int64_t column) const {
        return load(x, row * columns + column);
    }
};
struct NormTerm {
    Norm kind;
    Operand dy, x;
    const float* statistics;
    std::int64_t columns;
    __device__ float operator()(std::int64_t row, std::int64_t column) const {
        const std::int64_t at = row * columns + column;
        return load(dy, at) * scale_of(kind, statistics, row)(load(x, at));
    }
};

template <class Term>
__global__ void column_sums_kernel(std::int64_t rows, std::int64_t columns, std::int64_t chunks,
                                   Term term, float* partials) {
    const std::int64_t across = ceil_div(columns, thread_count());
    const std::int64_t chunk = block_index() / across;
    const std::int64_t column = block_index() % across * thread_count() + thread_index();
    if (column >= columns) return;
    float sum = 0;
    for (std::int64_t row = first_of_chunk(chunk, chunks, rows);
         row < first_of_chunk(chunk + 1, chunks, rows); ++row)
        sum += term(row, column);
    partials[chunk * columns + column] = sum;
}

__global__ void add_partials_kernel(std::int64_t chunks, std::int64_t columns,
                                    const float* partials, Result total) {
    const std::int64_t column = block_index() * thread_count() + thread_index();
    if (column >= columns) return;
    float sum = load(total, column);
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum += partials[chunk * columns + column];
    store(total, column, sum);
}

template <class Term>
void add_sums(const char* name, Stream stream, std::int64_t rows, std::int64_t columns,
              const Term& term, float* partials, Result total) {
    if (rows == 0) return;
    const std::int64_t chunks = chunks_of(rows);
    launch(name, column_sums_kernel<Term>, over_column_chunks(rows, columns), stream, rows, columns,
           chunks, term, partials);
    launch(name, add_partials_kernel, over_columns(columns), stream, chunks, columns, partials,
           total);
}

}  // namespace

void norm_forward(Stream stream, const NormShape& shape, float eps, Operand x, Operand weight,
                  Operand bias, Result y, float* statistics) {
    if (shape.kind == Norm::Layer)
        launch("layer_norm_forward", layer_norm_forward_kernel, over_rows(shape.rows), stream,
               shape, eps, x, weight, bias, y, statistics);
    else
        launch("rms_norm_forward", rms_norm_forward_kernel, over_rows(shape.rows), stream, shape,
               eps, x, weight, y, statistics);
}

void norm_backward_input(Stream stream, const NormShape& shape, Operand dy, Operand x,
                         Operand weight, const float* statistics, Result dx, bool adds) {
    launch("norm_backward_input", norm_backward_input_kernel, over_rows(shape.rows), stream, shape,
           dy, x, weight, statistics, dx, adds);
}

void norm_backward_weight(Stream stream, const NormShape& shape, Operand dy, Operand x,
                          const float* statistics, float* partials, Result dweight) {
    add_sums("norm_backward_weight", stream, shape.rows, shape.hidden,
             NormTerm{shape.kind, dy, x, statistics, shape.hidden}, partials, dweight);
}

void add_column_sums(Stream stream, std::int64_t rows, std::int64_t columns, Operand x,
                     float* partials, Result total) {
    add_sums("add_column_sums", stream, rows, columns, RowTerm{x, columns}, partials, total);
}

}  // namespace debubble::exec::cuda
