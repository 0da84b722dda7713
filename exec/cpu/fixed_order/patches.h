#pragma once

#include "exec/cpu/fixed_order/operands.h"

/// The two ends of a Vision Transformer (Dosovitskiy et al. 2021). Its patch embedding, a
/// convolution whose stride is its kernel, is cut_patches and then a linear layer with the
/// weight [hidden, channels, side, side] taken as [outputs, inputs].
namespace debubble::exec::fixed_order {

/// images [samples, channels, height, width] -> patches [samples, height / side * width /
/// side, channels * side * side], row by row. Images need no gradient.
template <Real T>
void cut_patches(std::int64_t side, In<T> images, Out<T> patches);

/// y [samples, 1 + patches, hidden] = class token before the patches, plus positions
/// [1 + patches, hidden]. patches [samples, patches, hidden], class_token [hidden].
template <Real T>
void class_token_forward(In<T> patches, In<T> class_token, In<T> positions, Out<T> y);

template <Real T>
void class_token_backward_input(In<T> dy, Out<T> dpatches);

template <Real T>
void class_token_backward_weight(In<T> dy, Out<T> dclass_token, Out<T> dpositions);

/// y [samples, hidden] = row 0 of each sample of x [samples, rows, hidden], for the classifier.
template <Real T>
void first_row_forward(In<T> x, Out<T> y);

/// dx is dy in row 0 and zero elsewhere.
template <Real T>
void first_row_backward_input(In<T> dy, Out<T> dx);

}  // namespace debubble::exec::fixed_order
