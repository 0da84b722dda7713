#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/oracle/array.h"
#include "tests/oracle/oracle.h"

namespace debubble::exec {

namespace {

/// Columns that are entries of the vocabulary; the rest pad it.
std::int64_t entries_of(const CrossEntropy& loss, std::int64_t columns) {
    return std::clamp<std::int64_t>(loss.entries, 0, columns);
}

/// Whether a target counts and is one of the first `entries` of this share of the vocabulary.
bool is_here(const CrossEntropy& loss, std::int32_t target, std::int64_t entries) {
    const std::int64_t column = target - loss.first_entry;
    return target != loss.ignore_index && 0 <= column && column < entries;
}

}  // namespace

/// The logits stay as they are until they become the gradient.
void Oracle::cross_entropy_softmax(const CrossEntropy& loss, ConstTensorView targets,
                                   TensorView logits, TensorView largest, TensorView sum,
                                   TensorView target) {
    const std::int64_t tokens = rows_of(logits), columns = logits.shape.columns();
    const std::int64_t entries = entries_of(loss, columns);
    const auto ids = integers_of(targets);
    const auto logit = read(logits, {tokens, columns});
    const auto peak = write(largest, {tokens}), total = write(sum, {tokens});
    const auto mine = write(target, {tokens});
    for (std::int64_t t = 0; t < tokens; ++t) {
        peak(t) = -std::numeric_limits<double>::infinity();
        for (std::int64_t j = 0; j < entries; ++j) peak(t) = std::max(peak(t), logit(t, j));
        total(t) = 0;
        for (std::int64_t j = 0; j < entries; ++j) total(t) += std::exp(logit(t, j) - peak(t));
        const bool here = is_here(loss, ids(t), entries);
        mine(t) = here ? logit(t, ids(t) - loss.first_entry) - peak(t) : 0;
    }
}

void Oracle::cross_entropy_rescale(const CrossEntropy& loss, ConstTensorView targets,
                                   ConstTensorView own_largest, ConstTensorView largest,
                                   TensorView sum, TensorView target) {
    const auto ids = integers_of(targets);
    const std::int64_t tokens = ids.extent(0);
    const auto own = read(own_largest, {tokens}), peak = read(largest, {tokens});
    const auto total = write(sum, {tokens}), mine = write(target, {tokens});
    for (std::int64_t t = 0; t < tokens; ++t) {
        total(t) *= std::exp(own(t) - peak(t));
        if (is_here(loss, ids(t), loss.entries)) mine(t) += own(t) - peak(t);
    }
}

/// The loss of a token is log(sum) - target.
void Oracle::cross_entropy_loss(const CrossEntropy& loss, ConstTensorView targets,
                                ConstTensorView sum, ConstTensorView target, TensorView total) {
    const auto ids = integers_of(targets);
    const std::int64_t tokens = ids.extent(0);
    const auto exponentials = read(sum, {tokens}), mine = read(target, {tokens});
    for (std::int64_t t = 0; t < tokens; ++t)
        if (ids(t) != loss.ignore_index)
            total.as<double>()[0] += std::log(exponentials(t)) - mine(t);
}

/// logits = (e^(logit - largest) / sum - 1 at the target) * gradient_scale; zero for padding and
/// for an ignored target.
void Oracle::cross_entropy_gradient(const CrossEntropy& loss, ConstTensorView targets,
                                    ConstTensorView /*own_largest*/, ConstTensorView largest,
                                    ConstTensorView sum, TensorView logits) {
    const std::int64_t tokens = rows_of(logits), columns = logits.shape.columns();
    const std::int64_t entries = entries_of(loss, columns);
    const auto ids = integers_of(targets);
    const auto peak = read(largest, {tokens}), total = read(sum, {tokens});
    const auto logit = write(logits, {tokens, columns});
    for (std::int64_t t = 0; t < tokens; ++t)
        for (std::int64_t j = 0; j < columns; ++j) {
            const bool counts = ids(t) != loss.ignore_index && j < entries;
            const double probability = counts ? std::exp(logit(t, j) - peak(t)) / total(t) : 0;
            const bool is_target = counts && ids(t) - loss.first_entry == j;
            logit(t, j) = (probability - (is_target ? 1 : 0)) * loss.gradient_scale;
        }
}

void Oracle::count_correct(const CrossEntropy& loss, ConstTensorView targets,
                           ConstTensorView logits, TensorView total) {
    const std::int64_t tokens = rows_of(logits), columns = logits.shape.columns();
    const std::int64_t entries = entries_of(loss, columns);
    const auto ids = integers_of(targets);
    const auto logit = read(logits, {tokens, columns});
    for (std::int64_t t = 0; t < tokens; ++t) {
        std::int64_t best = 0;
        for (std::int64_t j = 1; j < entries; ++j)
            if (logit(t, j) > logit(t, best)) best = j;
        if (is_here(loss, ids(t), entries) && ids(t) - loss.first_entry == best)
            total.as<double>()[0] += 1;
    }
}

}  // namespace debubble::exec
