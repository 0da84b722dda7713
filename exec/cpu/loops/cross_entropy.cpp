#include "exec/cpu/loops/ends.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exec/cpu/loops/exponential.h"
#include "exec/cpu/loops/sums.h"

namespace debubble::exec::loops {

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

void cross_entropy_largest(const CrossEntropy& loss, In logits, Out largest) {
    assert(largest.size() == logits.rows() && "one per token");
    const std::int64_t entries = entries_of(loss, logits.columns());
    if (entries == 0) {
        std::ranges::fill(largest, -std::numeric_limits<float>::infinity());
        return;
    }
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < logits.rows(); ++token) {
            largest[token] = largest_of(entries, logits.row(token));
        }
    });
}

void cross_entropy_exponentials(const CrossEntropy& loss, View<const std::int32_t> targets,
                                In largest, Out logits, Out sum, Out target) {
    assert(targets.size() == logits.rows() && "one target per token");
    const std::int64_t columns = logits.columns();
    const std::int64_t entries = entries_of(loss, columns);
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < logits.rows(); ++token) {
            float* row = logits.row(token);
            const float shift = largest[token];
            const std::int64_t column = column_of(loss, targets[token], columns);
            target[token] = column < 0 ? 0.F : row[column] - shift;
            for (std::int64_t j = 0; j < entries; ++j) row[j] = exponential(row[j] - shift);
            for (std::int64_t j = entries; j < columns; ++j) row[j] = 0.F;
            sum[token] = sum_of<float>(entries, [=](std::int64_t j) { return row[j]; });
        }
    });
}

void cross_entropy_rescale(const CrossEntropy& loss, View<const std::int32_t> targets,
                           In own_largest, In largest, Out sum, Out target) {
    for (std::int64_t token = 0; token < targets.size(); ++token) {
        const float by = own_largest[token] - largest[token];  // -inf if the share has padding only
        sum[token] *= std::exp(by);
        const std::int64_t target_here = targets[token] - loss.first_entry;
        const bool here =
            targets[token] != loss.ignore_index && target_here >= 0 && target_here < loss.entries;
        if (here && std::isfinite(by)) target[token] += by;
    }
}

void cross_entropy_gradient(const CrossEntropy& loss, View<const std::int32_t> targets,
                            In own_largest, In largest, In sum, Out logits) {
    const std::int64_t columns = logits.columns();
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < logits.rows(); ++token) {
            float* row = logits.row(token);
            if (targets[token] == loss.ignore_index) {
                std::fill_n(row, columns, 0.F);
                continue;
            }
            float factor = static_cast<float>(loss.gradient_scale) / sum[token];
            if (own_largest) factor *= std::exp(own_largest[token] - largest[token]);
            for (std::int64_t j = 0; j < columns; ++j) row[j] *= factor;
            const std::int64_t column = column_of(loss, targets[token], columns);
            if (column >= 0) row[column] -= static_cast<float>(loss.gradient_scale);
        }
    });
}

double cross_entropy_loss(const CrossEntropy& loss, View<const std::int32_t> targets, In sum,
                          In target) {
    double total = 0;
    for (std::int64_t token = 0; token < targets.size(); ++token) {
        if (targets[token] == loss.ignore_index) continue;
        total += static_cast<double>(std::log(sum[token]) - target[token]);
    }
    return total;
}

std::int64_t correct_predictions(const CrossEntropy& loss, View<const std::int32_t> targets,
                                 In logits) {
    assert(targets.size() == logits.rows() && "one target per row");
    const std::int64_t entries = entries_of(loss, logits.columns());
    std::int64_t correct = 0;
    for (std::int64_t i = 0; i < logits.rows(); ++i) {
        const float* row = logits.row(i);
        const std::int64_t column = column_of(loss, targets[i], logits.columns());
        if (std::max_element(row, row + entries) - row == column) ++correct;
    }
    return correct;
}

}  // namespace debubble::exec::loops
