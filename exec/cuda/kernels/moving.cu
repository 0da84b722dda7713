#include "exec/cuda/kernels/layers.h"

#include "exec/cuda/kernels/load.h"
#include "exec/cuda/kernels/philox.h"

namespace debubble::exec::cuda {

namespace {

__global__ void copy_rows_kernel(Rows which, Operand from, Strides source, Result to,
                                 Strides target) {
    const ElementRun run = run_of_thread(which.outer * which.rows * which.columns);
    if (run.count == 0) return;
    // A run stays in its row where rows are whole runs.
    const int each = which.columns % kElementsEach == 0 ? kElementsEach : 1;
    for (int i = 0; i < run.count; i += each) {
        const std::int64_t at = run.first + i;
        const std::int64_t column = at % which.columns;
        const std::int64_t row = at / which.columns % which.rows;
        const std::int64_t outer = at / which.columns / which.rows;
        const std::int64_t read = source.first + outer * source.outer + row * source.row + column;
        const std::int64_t write = target.first + outer * target.outer + row * target.row + column;
        store_run(to, {write, each}, load_run(from, {read, each}));
    }
}

/// One of the words, which stay in registers: their number is not known before the kernel runs.
__device__ std::uint32_t word_of(const PhiloxWords& words, std::uint64_t which) {
    const std::uint32_t low = which == 0 ? words.at[0] : words.at[1];
    const std::uint32_t high = which == 2 ? words.at[2] : words.at[3];
    return which < 2 ? low : high;
}

__global__ void dropout_kernel(std::int64_t n, DropoutNumbers how, Operand x, Result y) {
    const ElementRun run = run_of_thread(n);
    if (run.count == 0) return;
    Vec8 values = load_run(x, run);
    PhiloxWords words{};
    std::uint64_t made = ~std::uint64_t{0};
    DEBUBBLE_UNROLL
    for (int i = 0; i < kElementsEach; ++i) {
        if (i >= run.count) break;
        const std::int64_t at = run.first + i;
        const std::int64_t column = at % how.columns + how.first_column;
        const std::int64_t row = at / how.columns % how.rows + how.first_row;
        const std::int64_t sample = at / how.columns / how.rows + how.first_sample;
        const auto element =
            static_cast<std::uint64_t>((sample * how.all_rows + row) * how.all_columns + column);
        if (element / 4 != made) words = philox(how.seed, how.stream, made = element / 4);
        const std::uint32_t word = word_of(words, element % 4);
        values.at[i] = word < how.threshold ? 0.F : values.at[i] * how.scale;
    }
    store_run(y, run, values);
}

__global__ void cut_patches_kernel(Images how, Operand images, Result patches) {
    const ElementRun run = run_of_thread(how.samples * how.channels * how.height * how.width);
    const std::int64_t across = how.width / how.side;
    const std::int64_t down = how.height / how.side;
    for (int i = 0; i < run.count; ++i) {
        const std::int64_t at = run.first + i;  // [patch, channel, y, x]
        const std::int64_t x = at % how.side;
        const std::int64_t y = at / how.side % how.side;
        const std::int64_t channel = at / (how.side * how.side) % how.channels;
        const std::int64_t patch = at / (how.side * how.side * how.channels);
        const std::int64_t sample = patch / (down * across);
        const std::int64_t row = patch / across % down * how.side + y;
        const std::int64_t column = patch % across * how.side + x;
        const std::int64_t from =
            ((sample * how.channels + channel) * how.height + row) * how.width + column;
        store(patches, at, load(images, from));
    }
}

}  // namespace

void copy_rows(Stream stream, const Rows& which, Operand from, const Strides& from_strides,
               Result to, const Strides& to_strides) {
    launch("copy_rows", copy_rows_kernel, over_elements(which.elements()), stream, which, from,
           from_strides, to, to_strides);
}

void dropout(Stream stream, std::int64_t n, const DropoutNumbers& how, Operand x, Result y) {
    launch("dropout", dropout_kernel, over_elements(n), stream, n, how, x, y);
}

void cut_patches(Stream stream, const Images& how, Operand images, Result patches) {
    const std::int64_t elements = how.samples * how.channels * how.height * how.width;
    launch("cut_patches", cut_patches_kernel, over_elements(elements), stream, how, images,
           patches);
}

}  // namespace debubble::exec::cuda
