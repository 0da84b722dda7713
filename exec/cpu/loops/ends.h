#pragma once

#include "exec/cpu/loops/operands.h"

/// The two ends of a network: embeddings, patches of images, and the loss.
namespace debubble::exec::loops {

// Token and learned position embeddings. They pass no gradient to an input other than the stream
// itself, so only backward_weight does any work.

/// dtable [entries, hidden] += dy [tokens, hidden], each row at its token, in the order of the
/// tokens. Row 0 of the table is vocabulary entry `first_entry`; tokens of another rank's share are
/// passed over.
void token_embedding_backward_weight(View<const std::int32_t> tokens, std::int64_t first_entry,
                                     In dy, Out dtable);

/// y = x + table rows first_position, ...; x, y [samples, rows, hidden] may be the same,
/// table [positions, hidden]. dx is dy.
void position_embedding_forward(std::int64_t first_position, In x, In table, Out y);

/// dtable += dy, summed over the samples.
void position_embedding_backward_weight(std::int64_t first_position, In dy, Out dtable);

// Copies between rows of every sample and tensors that have those rows alone.

/// Copies slice [samples, rows, width] into whole [samples, all rows, width].
void store_rows(std::int64_t first_row, In slice, Out whole);

/// Copies a slice's rows out of the whole. The backward of store_rows.
void load_rows(std::int64_t first_row, In whole, Out slice);

// The two ends of a Vision Transformer (Dosovitskiy et al. 2021). Its patch embedding, a
// convolution whose stride is its kernel, is cut_patches and then a linear layer with the
// weight [hidden, channels, side, side] taken as [outputs, inputs].

/// images [samples, channels, height, width] -> patches [samples, height / side * width /
/// side, channels * side * side], row by row. Images need no gradient.
void cut_patches(std::int64_t side, In images, Out patches);

/// y [samples, 1 + patches, hidden] = class token before the patches, plus positions
/// [1 + patches, hidden]. patches [samples, patches, hidden], class_token [hidden].
void class_token_forward(In patches, In class_token, In positions, Out y);

void class_token_backward_input(In dy, Out dpatches);

void class_token_backward_weight(In dy, Out dclass_token, Out dpositions);

/// y [samples, hidden] = row 0 of each sample of x [samples, rows, hidden], for the classifier.
void first_row_forward(In x, Out y);

/// dx is dy in row 0 and zero elsewhere.
void first_row_backward_input(In dy, Out dx);

// Cross-entropy of a softmax over the vocabulary (or the classes), computed in place: logits
// become their own gradient. Targets equal to `ignore_index` neither count nor have a gradient.
//
// It has steps, so that tensor-parallel ranks that each hold a share of the vocabulary can reduce
// `largest` by maximum and, rescaled, the other two by sum in between (Shoeybi et al. 2019,
// "Megatron-LM", section 3). Columns beyond `entries` are padding: they have no weight, and their
// gradient is zero. Shapes: logits [tokens, share of the vocabulary], the others [tokens].

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
