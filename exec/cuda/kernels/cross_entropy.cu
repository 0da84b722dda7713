#include "exec/cuda/kernels/ends.h"

#include "exec/cuda/kernels/load.h"

namespace debubble::exec::cuda {

namespace {

constexpr float kNothing = -INFINITY;

/// The column of the target, or -1 if another rank's share has it or it is ignored.
__device__ std::int64_t column_of(const LossShape& shape, std::int32_t target) {
    if (target == shape.ignore_index) return -1;
    const std::int64_t column = target - shape.first_entry;
    return column >= 0 && column < shape.entries ? column : -1;
}

/// Calls body(run, its first column) for this thread's share of a row's leading `columns`.
template <class Body>
__device__ void each_run(const LossShape& shape, std::int64_t columns, const Body& body) {
    const std::int64_t begin = block_index() * shape.columns;
    const AlignedRow row{begin, begin + columns};
    for (std::int64_t index = thread_index(); index < row.runs(); index += thread_count()) {
        const ElementRun run = row.run(index);
        body(run, run.first - begin);
    }
}

/// e^x; 0 for -inf.
__device__ float exponential(float x) {
    return power_of_two(x * kLog2E);
}

/// The largest of some logits, and the sum of e^(logit - largest) (Milakov and Gimelshein 2018,
/// "Online normalizer calculation for softmax").
struct RunningSum {
    float largest = kNothing;
    float sum = 0;

    /// The factor of the sum when the largest becomes `now`.
    __device__ float correction(float now) const {
        return largest == kNothing ? 0.F : exponential(largest - now);
    }
    __device__ void take(const Vec8& values, int count) {
        float now = largest;
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i)
            if (i < count) now = Larger{}(now, values.at[i]);
        if (now == kNothing) return;
        float added = 0;
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i)
            if (i < count) added += exponential(values.at[i] - now);
        sum = sum * correction(now) + added;
        largest = now;
    }
};

__global__ void softmax_kernel(LossShape shape, const std::int32_t* targets, Operand logits,
                               float* largest, float* sum, float* target) {
    const std::int64_t token = block_index();
    RunningSum mine;
    each_run(shape, shape.entries,
             [&](ElementRun run, std::int64_t) { mine.take(load_run(logits, run), run.count); });
    const float all = over_block(mine.largest, Larger{}, shared_memory<float>());
    const float whole = over_block(mine.sum * mine.correction(all), Add{}, shared_memory<float>());
    if (thread_index() != 0) return;
    const std::int64_t column = column_of(shape, targets[token]);
    largest[token] = all;
    sum[token] = whole;
    target[token] = column < 0 ? 0.F : load(logits, token * shape.columns + column) - all;
}

__global__ void rescale_kernel(LossShape shape, const std::int32_t* targets,
                               const float* own_largest, const float* largest, float* sum,
                               float* target) {
    const std::int64_t token = block_index() * thread_count() + thread_index();
    if (token >= shape.tokens || own_largest[token] == kNothing) return;  // the share is padding
    const float by = own_largest[token] - largest[token];
    sum[token] *= expf(by);
    if (column_of(shape, targets[token]) >= 0) target[token] += by;
}

__global__ void gradient_kernel(LossShape shape, float gradient_scale, const std::int32_t* targets,
                                const float* largest, const float* sum, Result logits) {
    const std::int64_t token = block_index();
    const bool ignored = targets[token] == shape.ignore_index;
    const std::int64_t column = column_of(shape, targets[token]);
    const float shift = largest[token];
    const float factor = ignored ? 0.F : gradient_scale / sum[token];
    each_run(shape, shape.columns, [&](ElementRun run, std::int64_t first) {
        Vec8 values = load_run(logits, run);
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i) {
            const bool counts = !ignored && first + i < shape.entries;
            const float e = counts ? exponential(values.at[i] - shift) * factor : 0.F;
            values.at[i] = first + i == column ? e - gradient_scale : e;
        }
        store_run(logits, run, values);
    });
}

struct TokenLoss {
    std::int32_t ignore_index;
    const std::int32_t* targets;
    const float* sum;
    const float* target;
    __device__ double operator()(std::int64_t i) const {
        return targets[i] == ignore_index ? 0.0 : static_cast<double>(logf(sum[i]) - target[i]);
    }
};
struct Flag {
    const float* flags;
    __device__ double operator()(std::int64_t i) const { return flags[i]; }
};

__global__ void correct_kernel(LossShape shape, const std::int32_t* targets, Operand logits,
                               float* flags) {
    const std::int64_t token = block_index(), first = token * shape.columns;
    const std::int64_t column = column_of(shape, targets[token]);
    const float wanted = column < 0 ? 0.F : load(logits, first + column);
    float beaten = 0;  // counts larger logits, and equal ones before the target
    each_run(shape, shape.entries, [&](ElementRun run, std::int64_t j) {
        const Vec8 others = load_run(logits, run);
        DEBUBBLE_UNROLL
        for (int i = 0; i < kElementsEach; ++i)
            if (i < run.count &&
                (others.at[i] > wanted || (others.at[i] == wanted && j + i < column)))
                beaten = 1;
    });
    beaten = over_block(beaten, Larger{}, shared_memory<float>());
    if (thread_index() == 0) flags[token] = column >= 0 && beaten == 0.F ? 1.F : 0.F;
}

}  // namespace

void cross_entropy_softmax(Stream stream, const LossShape& shape, const std::int32_t* targets,
                           Operand logits, float* largest, float* sum, float* target) {
    launch("cross_entropy_softmax", softmax_kernel, over_rows(shape.tokens), stream, shape, targets,
           logits, largest, sum, target);
}

void cross_entropy_rescale(Stream stream, const LossShape& shape, const std::int32_t* targets,
                           const float* own_largest, const float* largest, float* sum,
                           float* target) {
    launch("cross_entropy_rescale", rescale_kernel,
           Geometry{ceil_div(shape.tokens, kThreads), kThreads, 0}, stream, shape, targets,
           own_largest, largest, sum, target);
}

void cross_entropy_loss(Stream stream, const LossShape& shape, const std::int32_t* targets,
                        const float* sum, const float* target, double* total) {
    launch("cross_entropy_loss", add_to_total<TokenLoss>, over_rows(1), stream, shape.tokens,
           TokenLoss{shape.ignore_index, targets, sum, target}, total);
}

void cross_entropy_gradient(Stream stream, const LossShape& shape, float gradient_scale,
                            const std::int32_t* targets, const float* largest, const float* sum,
                            Result logits) {
    launch("cross_entropy_gradient", gradient_kernel, over_rows(shape.tokens), stream, shape,
           gradient_scale, targets, largest, sum, logits);
}

void count_correct(Stream stream, const LossShape& shape, const std::int32_t* targets,
                   Operand logits, float* flags, double* total) {
    launch("count_correct", correct_kernel, over_rows(shape.tokens), stream, shape, targets, logits,
           flags);
    launch("count_correct", add_to_total<Flag>, over_rows(1), stream, shape.tokens, Flag{flags},
           total);
}

}  // namespace debubble::exec::cuda
