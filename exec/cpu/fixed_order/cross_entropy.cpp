#include "exec/cpu/fixed_order/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exec/cpu/fixed_order/exponential.h"
#include "exec/cpu/fixed_order/sums.h"

namespace debubble::exec::fixed_order {

namespace {

/// The number of columns that are not padding.
std::int64_t entries_of(const CrossEntropy& loss, std::int64_t columns) {
    return std::clamp<std::int64_t>(loss.entries, 0, columns);
}

/// The column of the target, or -1 if another share has it or it is ignored.
std::int64_t column_of(const CrossEntropy& loss, std::int32_t target, std::int64_t columns) {
    if (target == loss.ignore_index) return -1;
    const std::int64_t column = target - loss.first_entry;
    return column >= 0 && column < entries_of(loss, columns) ? column : -1;
}

}  // namespace

template <Real T>
void cross_entropy_largest(const CrossEntropy& loss, In<T> logits, Out<T> largest) {
    assert(largest.size() == logits.rows() && "one per token");
    const std::int64_t entries = entries_of(loss, logits.columns());
    if (entries == 0) {
        std::ranges::fill(largest, -std::numeric_limits<T>::infinity());
        return;
    }
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < logits.rows(); ++token) {
            largest[token] = largest_of(entries, logits.row(token));
        }
    });
}

template <Real T>
void cross_entropy_exponentials(const CrossEntropy& loss, View<const std::int32_t> targets,
                                In<T> largest, Out<T> logits, Out<T> sum, Out<T> target) {
    assert(targets.size() == logits.rows() && "one target per token");
    const std::int64_t columns = logits.columns();
    const std::int64_t entries = entries_of(loss, columns);
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < logits.rows(); ++token) {
            T* row = logits.row(token);
            const T shift = largest[token];
            const std::int64_t column = column_of(loss, targets[token], columns);
            target[token] = column < 0 ? T{0} : row[column] - shift;
            for (std::int64_t j = 0; j < entries; ++j) row[j] = exponential(row[j] - shift);
            for (std::int64_t j = entries; j < columns; ++j) row[j] = T{0};
            sum[token] = sum_of<T>(entries, [=](std::int64_t j) { return row[j]; });
        }
    });
}

template <Real T>
void cross_entropy_rescale(const CrossEntropy& loss, View<const std::int32_t> targets,
                           In<T> own_largest, In<T> largest, Out<T> sum, Out<T> target) {
    for (std::int64_t token = 0; token < targets.size(); ++token) {
        const T by = own_largest[token] - largest[token];  // -inf if the share has padding only
        sum[token] *= std::exp(by);
        const std::int64_t target_here = targets[token] - loss.first_entry;
        const bool here =
            targets[token] != loss.ignore_index && target_here >= 0 && target_here < loss.entries;
        if (here && std::isfinite(by)) target[token] += by;
    }
}

template <Real T>
void cross_entropy_gradient(const CrossEntropy& loss, View<const std::int32_t> targets,
                            In<T> own_largest, In<T> largest, In<T> sum, Out<T> logits) {
    const std::int64_t columns = logits.columns();
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < logits.rows(); ++token) {
            T* row = logits.row(token);
            if (targets[token] == loss.ignore_index) {
                std::fill_n(row, columns, T{0});
                continue;
            }
            T factor = static_cast<T>(loss.gradient_scale) / sum[token];
            if (own_largest) factor *= std::exp(own_largest[token] - largest[token]);
            for (std::int64_t j = 0; j < columns; ++j) row[j] *= factor;
            const std::int64_t column = column_of(loss, targets[token], columns);
            if (column >= 0) row[column] -= static_cast<T>(loss.gradient_scale);
        }
    });
}

template <Real T>
double cross_entropy_loss(const CrossEntropy& loss, View<const std::int32_t> targets,
                          View<const T> sum, In<T> target) {
    double total = 0;
    for (std::int64_t token = 0; token < targets.size(); ++token) {
        if (targets[token] == loss.ignore_index) continue;
        total += static_cast<double>(std::log(sum[token]) - target[token]);
    }
    return total;
}

template <Real T>
double cross_entropy(const CrossEntropy& loss, View<const std::int32_t> targets, Out<T> logits,
                     Out<T> scratch) {
    const std::int64_t tokens = logits.rows();
    assert(scratch.size() == 3 * tokens && "scratch [3, tokens]");
    const View<T> largest{scratch.data, {tokens}};
    const View<T> sum{scratch.data + tokens, {tokens}};
    const View<T> target{scratch.data + 2 * tokens, {tokens}};
    cross_entropy_largest<T>(loss, logits, largest);
    cross_entropy_exponentials<T>(loss, targets, largest, logits, sum, target);
    cross_entropy_gradient<T>(loss, targets, {}, largest, sum, logits);
    return cross_entropy_loss<T>(loss, targets, sum, target);
}

std::int64_t counted_targets(View<const std::int32_t> targets, std::int32_t ignore_index) {
    return targets.size() - std::count(targets.begin(), targets.end(), ignore_index);
}

template <Real T>
std::int64_t correct_predictions(const CrossEntropy& loss, View<const std::int32_t> targets,
                                 In<T> logits) {
    assert(targets.size() == logits.rows() && "one target per row");
    const std::int64_t entries = entries_of(loss, logits.columns());
    std::int64_t correct = 0;
    for (std::int64_t i = 0; i < logits.rows(); ++i) {
        const T* row = logits.row(i);
        const std::int64_t column = column_of(loss, targets[i], logits.columns());
        if (std::max_element(row, row + entries) - row == column) ++correct;
    }
    return correct;
}

#define INSTANTIATE(T)                                                                            \
    template void cross_entropy_largest<T>(const CrossEntropy&, In<T>, Out<T>);                   \
    template void cross_entropy_exponentials<T>(const CrossEntropy&, View<const std::int32_t>,    \
                                                In<T>, Out<T>, Out<T>, Out<T>);                   \
    template void cross_entropy_rescale<T>(const CrossEntropy&, View<const std::int32_t>, In<T>,  \
                                           In<T>, Out<T>, Out<T>);                                \
    template void cross_entropy_gradient<T>(const CrossEntropy&, View<const std::int32_t>, In<T>, \
                                            In<T>, In<T>, Out<T>);                                \
    template double cross_entropy_loss<T>(const CrossEntropy&, View<const std::int32_t>,          \
                                          View<const T>, In<T>);                                  \
    template double cross_entropy<T>(const CrossEntropy&, View<const std::int32_t>, Out<T>,       \
                                     Out<T>);                                                     \
    template std::int64_t correct_predictions<T>(const CrossEntropy&, View<const std::int32_t>,   \
                                                 In<T>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace debubble::exec::fixed_order
