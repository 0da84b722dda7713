#pragma once

#include "exec/cpu/loops/operands.h"

/// The two ends of a Vision Transformer (Dosovitskiy et al. 2021). Its patch embedding, a
/// convolution whose stride is its kernel, is cut_patches and then a linear layer with the
/// weight [hidden, channels, side, side] taken as [outputs, inputs].
namespace debubble::exec::loops {

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

}  // namespace debubble::exec::loops
