#pragma once

#include <algorithm>

#include "exec/cpu/loops/ends.h"

namespace debubble::exec {

/// All steps of the loss, where the whole vocabulary is at hand: logits [tokens, entries] become
/// their gradient. Returns the sum of the tokens' losses.
inline double whole_loss(const CrossEntropy& loss, View<const std::int32_t> targets,
                         View<float> logits) {
    const Shape tokens{logits.rows()};
    const Tensor largest(tokens), sum(tokens), target(tokens);
    loops::cross_entropy_largest(loss, logits, largest.as<float>());
    loops::cross_entropy_exponentials(loss, targets, largest.as<float>(), logits, sum.as<float>(),
                                      target.as<float>());
    loops::cross_entropy_gradient(loss, targets, {}, largest.as<float>(), sum.as<float>(), logits);
    return loops::cross_entropy_loss(loss, targets, sum.as<float>(), target.as<float>());
}

/// The number of targets that count.
inline std::int64_t counted_targets(const Tensor& targets, std::int32_t ignore_index = -100) {
    const View<const std::int32_t> ids = targets.as<std::int32_t>();
    return ids.size() - std::count(ids.begin(), ids.end(), ignore_index);
}

}  // namespace debubble::exec
