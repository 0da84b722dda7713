#pragma once

#include <cstdint>

#include "exec/core/tensor.h"

namespace debubble::exec {

/// The two ends of a Vision Transformer (Dosovitskiy et al. 2021). Its patch embedding, a
/// convolution whose stride is its kernel, is cut_patches and then a linear layer with the weight
/// [hidden, channels, side, side] taken as [outputs, inputs].
class VisionKernels {
public:
    /// images [samples, channels, height, width] -> patches [samples, height / side * width / side,
    /// channels * side * side], row by row. Images may be fp32 whatever the compute type, and need
    /// no gradient.
    virtual void cut_patches(std::int64_t side, ConstTensorView images, TensorView patches) = 0;

    /// y [samples, 1 + patches, hidden] = class_token [hidden] before the patches [samples,
    /// patches, hidden], plus positions [1 + patches, hidden].
    virtual void class_token_forward(ConstTensorView patches, ConstTensorView class_token,
                                     ConstTensorView positions, TensorView y) = 0;
    virtual void class_token_backward_input(ConstTensorView dy, TensorView dpatches) = 0;
    virtual void class_token_backward_weight(ConstTensorView dy, TensorView dclass_token,
                                             TensorView dpositions) = 0;

    /// y [samples, hidden] = row 0 of each sample of x [samples, rows, hidden], for the classifier.
    virtual void first_row_forward(ConstTensorView x, TensorView y) = 0;
    /// dx is dy in row 0 and zero elsewhere.
    virtual void first_row_backward_input(ConstTensorView dy, TensorView dx) = 0;

protected:
    ~VisionKernels() = default;
};

}  // namespace debubble::exec
