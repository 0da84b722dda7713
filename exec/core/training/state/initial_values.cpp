#include "exec/core/training/state/initial_values.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "base/check.h"
#include "exec/core/pieces/pieces.h"

namespace debubble::exec {

namespace {

/// Calls `run(first, offset, count)` for every row of the slice: the index of its first element in
/// the whole tensor, its place in the buffer, and its length.
template <class Run>
void for_each_row(const Slice& slice, const Dimensions& shape, Run&& run) {
    const Dimensions strides = row_major_strides(shape);
    const std::size_t last = shape.size() - 1;
    DEBUBBLE_CHECK(slice.strides[last] == 1, "a rank's tensors are row-major");
    Dimensions at(shape.size(), 0);
    const std::int64_t rows =
        slice.box.elements() / std::max<std::int64_t>(1, slice.box.extent[last]);
    for (std::int64_t row = 0; row < rows; ++row) {
        std::int64_t first = 0;
        std::int64_t offset = slice.offset;
        for (std::size_t d = 0; d <= last; ++d) {
            first += (slice.box.begin[d] + at[d]) * strides[d];
            offset += at[d] * slice.strides[d];
        }
        run(first, offset, slice.box.extent[last]);
        for (std::size_t d = last; d-- > 0;) {
            if (++at[d] < slice.box.extent[d]) break;
            at[d] = 0;
        }
    }
}

constexpr std::int64_t kLongestRun = 1 << 12;
constexpr std::int64_t kWorthAThread = 1 << 16;  ///< elements, which take a millisecond or two
constexpr std::int64_t kMostThreads = 16;

/// Elements of the whole tensor from `first` on, and their place in the buffer.
struct Run {
    std::int64_t first, offset, count;
};

/// Calls `work` for every run, on several threads where there are many elements: each element is a
/// function of its index alone, whichever thread draws it.
void for_each_by_threads(std::span<const Run> runs, const std::function<void(const Run&)>& work) {
    std::int64_t elements = 0;
    for (const Run& run : runs) elements += run.count;
    const std::int64_t threads = std::clamp<std::int64_t>(
        std::min<std::int64_t>(elements / kWorthAThread, std::thread::hardware_concurrency()), 1,
        kMostThreads);
    const auto part = [&](std::int64_t thread) {
        const auto size = static_cast<std::int64_t>(runs.size());
        for (std::int64_t i = size * thread / threads; i < size * (thread + 1) / threads; ++i)
            work(runs[i]);
    };
    std::vector<std::jthread> others;
    for (std::int64_t thread = 1; thread < threads; ++thread) others.emplace_back(part, thread);
    part(0);
}

}  // namespace

InitialValue initial_value(const models::Architecture& architecture, models::Initial initial) {
    constexpr double kInitializerRange = 0.02;
    switch (initial) {
        case models::Initial::Normal: return {kInitializerRange, 0};
        case models::Initial::Residual:
            return {kInitializerRange / std::sqrt(2.0 * architecture.layers.count()), 0};
        case models::Initial::Zeros: return {0, 0};
        case models::Initial::Ones: return {0, 1};
    }
    return {};
}

void fill_initial(const InitialValue& value, const models::Parameter& parameter, std::uint64_t seed,
                  std::span<const Slice> slices, View<float> buffer) {
    std::vector<Run> runs;
    for (const Slice& slice : slices) {
        for_each_row(slice, parameter.shape,
                     [&](std::int64_t first, std::int64_t offset, std::int64_t count) {
                         for (std::int64_t done = 0; done < count; done += kLongestRun)
                             runs.push_back({first + done, offset + done,
                                             std::min(kLongestRun, count - done)});
                     });
    }
    const RandomStream stream = stream_of(seed, stored_name(parameter));
    for_each_by_threads(runs, [&](const Run& run) {
        const View<float> row(buffer.data + run.offset, {run.count});
        if (value.deviation == 0)
            std::ranges::fill(row, static_cast<float>(value.constant));
        else
            fill_normal<float>(stream, value.deviation, run.first, row);
    });
}

}  // namespace debubble::exec
