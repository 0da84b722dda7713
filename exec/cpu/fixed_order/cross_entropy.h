#pragma once

#include "exec/cpu/fixed_order/operands.h"

/// Cross-entropy of a softmax over the vocabulary (or the classes), computed in place: logits
/// become their own gradient. Targets equal to `ignore_index` neither count nor have a gradient.
///
/// It has steps, so that tensor-parallel ranks that each hold a share of the vocabulary can reduce
/// `largest` by maximum and, rescaled, the other two by sum in between (Shoeybi et al. 2019,
/// "Megatron-LM", section 3). Columns beyond `entries` are padding: they have no weight, and their
/// gradient is zero. Shapes: logits [tokens, share of the vocabulary], the others [tokens].
namespace debubble::exec::fixed_order {

/// largest = the largest logit of each token; -inf if the share has padding only.
template <Real T>
void cross_entropy_largest(const CrossEntropy& loss, In<T> logits, Out<T> largest);

/// logits = e^(logit - largest), sum = their sum, target = the target's logit - largest, or zero if
/// another share has it or it is ignored.
template <Real T>
void cross_entropy_exponentials(const CrossEntropy& loss, View<const std::int32_t> targets,
                                In<T> largest, Out<T> logits, Out<T> sum, Out<T> target);

/// sum and target for exponentials of logit - own_largest become those for logit - largest.
template <Real T>
void cross_entropy_rescale(const CrossEntropy& loss, View<const std::int32_t> targets,
                           In<T> own_largest, In<T> largest, Out<T> sum, Out<T> target);

/// logits = (e / sum - 1 at the target) * gradient_scale, zero for an ignored target. They are
/// exponentials of logit - own_largest, or, where that is empty, of logit - largest.
template <Real T>
void cross_entropy_gradient(const CrossEntropy& loss, View<const std::int32_t> targets,
                            In<T> own_largest, In<T> largest, In<T> sum, Out<T> logits);

/// The sum of the tokens' losses, log(sum) - target, not yet divided by anything.
template <Real T>
double cross_entropy_loss(const CrossEntropy& loss, View<const std::int32_t> targets,
                          View<const T> sum, In<T> target);

/// All steps, where the whole vocabulary is at hand. `scratch` [3, tokens].
template <Real T>
double cross_entropy(const CrossEntropy& loss, View<const std::int32_t> targets, Out<T> logits,
                     Out<T> scratch);

/// The number of targets that count.
std::int64_t counted_targets(View<const std::int32_t> targets, std::int32_t ignore_index);

/// The number of rows of logits whose largest value, the first of equal ones, is at the target.
template <Real T>
std::int64_t correct_predictions(const CrossEntropy& loss, View<const std::int32_t> targets,
                                 In<T> logits);

}  // namespace debubble::exec::fixed_order
