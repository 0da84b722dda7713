#pragma once

#include "exec/cpu/loops/operands.h"

/// Cross-entropy of a softmax over the vocabulary (or the classes), computed in place: logits
/// become their own gradient. Targets equal to `ignore_index` neither count nor have a gradient.
///
/// It has steps, so that tensor-parallel ranks that each hold a share of the vocabulary can reduce
/// `largest` by maximum and, rescaled, the other two by sum in between (Shoeybi et al. 2019,
/// "Megatron-LM", section 3). Columns beyond `entries` are padding: they have no weight, and their
/// gradient is zero. Shapes: logits [tokens, share of the vocabulary], the others [tokens].
namespace debubble::exec::loops {

/// largest = the largest logit of each token; -inf if the share has padding only.
void cross_entropy_largest(const CrossEntropy& loss, In logits, Out largest);

/// logits = e^(logit - largest), sum = their sum, target = the target's logit - largest, or zero if
/// another share has it or it is ignored.
void cross_entropy_exponentials(const CrossEntropy& loss, View<const std::int32_t> targets,
                                In largest, Out logits, Out sum, Out target);

/// sum and target for exponentials of logit - own_largest become those for logit - largest.
void cross_entropy_rescale(const CrossEntropy& loss, View<const std::int32_t> targets,
                           In own_largest, In largest, Out sum, Out target);

/// logits = (e / sum - 1 at the target) * gradient_scale, zero for an ignored target. They are
/// exponentials of logit - own_largest, or, where that is empty, of logit - largest.
void cross_entropy_gradient(const CrossEntropy& loss, View<const std::int32_t> targets,
                            In own_largest, In largest, In sum, Out logits);

/// The sum of the tokens' losses, log(sum) - target, not yet divided by anything.
double cross_entropy_loss(const CrossEntropy& loss, View<const std::int32_t> targets, In sum,
                          In target);

/// The number of rows of logits whose largest value, the first of equal ones, is at the target.
std::int64_t correct_predictions(const CrossEntropy& loss, View<const std::int32_t> targets,
                                 In logits);

}  // namespace debubble::exec::loops
