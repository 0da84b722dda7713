#pragma once

#include "exec/core/kernels.h"

namespace debubble::exec {

/// The meaning of the operators of Kernels: each follows its formula, in double, by plain loops
/// without blocks, vectors or threads. Every back end is compared with it; it is itself compared
/// with PyTorch and, its gradients, with finite differences. Made for small shapes.
///
/// All operands are fp64, except tokens and targets, which are int32. The operators that Kernels
/// composes of others are composed here, too.
class Oracle final : public Kernels {
public:
    std::string_view name() const override { return "oracle"; }

    // products.cpp
    DEBUBBLE_OVERRIDE(Kernels, linear_forward);
    DEBUBBLE_OVERRIDE(Kernels, linear_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, linear_backward_weight);
    DEBUBBLE_OVERRIDE(Kernels, add_bias);
    DEBUBBLE_OVERRIDE(Kernels, bias_backward_weight);
    DEBUBBLE_OVERRIDE(Kernels, token_embedding_forward);
    DEBUBBLE_OVERRIDE(Kernels, token_embedding_backward_weight);
    // norms.cpp
    DEBUBBLE_OVERRIDE(Kernels, layer_norm_forward);
    DEBUBBLE_OVERRIDE(Kernels, layer_norm_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, layer_norm_backward_weight);
    DEBUBBLE_OVERRIDE(Kernels, rms_norm_forward);
    DEBUBBLE_OVERRIDE(Kernels, rms_norm_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, rms_norm_backward_weight);
    // attention.cpp
    DEBUBBLE_OVERRIDE(Kernels, split_heads_forward);
    DEBUBBLE_OVERRIDE(Kernels, split_heads_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, rope_forward);
    DEBUBBLE_OVERRIDE(Kernels, rope_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, attention_forward);
    DEBUBBLE_OVERRIDE(Kernels, attention_backward_input);
    // elementwise.cpp
    DEBUBBLE_OVERRIDE(Kernels, activation_forward);
    DEBUBBLE_OVERRIDE(Kernels, activation_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, swiglu_forward);
    DEBUBBLE_OVERRIDE(Kernels, swiglu_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, residual_forward);
    DEBUBBLE_OVERRIDE(Kernels, add);
    DEBUBBLE_OVERRIDE(Kernels, scale);
    DEBUBBLE_OVERRIDE(Kernels, dropout);
    // experts.cpp
    DEBUBBLE_OVERRIDE(Kernels, route_forward);
    DEBUBBLE_OVERRIDE(Kernels, route_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, first_rows_of_experts);
    DEBUBBLE_OVERRIDE(Kernels, permute_forward);
    DEBUBBLE_OVERRIDE(Kernels, permute_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, combine_forward);
    DEBUBBLE_OVERRIDE(Kernels, combine_backward_input);
    // loss.cpp
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_softmax);
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_rescale);
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_loss);
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_gradient);
    DEBUBBLE_OVERRIDE(Kernels, count_correct);
    // vision.cpp
    DEBUBBLE_OVERRIDE(Kernels, cut_patches);
    DEBUBBLE_OVERRIDE(Kernels, class_token_forward);
    DEBUBBLE_OVERRIDE(Kernels, class_token_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, class_token_backward_weight);
    DEBUBBLE_OVERRIDE(Kernels, first_row_forward);
    DEBUBBLE_OVERRIDE(Kernels, first_row_backward_input);
    // moving.cpp
    DEBUBBLE_OVERRIDE(Kernels, join_columns);
    DEBUBBLE_OVERRIDE(Kernels, take_columns);
    DEBUBBLE_OVERRIDE(Kernels, fill_zero);
    DEBUBBLE_OVERRIDE(Kernels, copy);
    // optimizer.cpp
    DEBUBBLE_OVERRIDE(Kernels, adam_step);
    DEBUBBLE_OVERRIDE(Kernels, sgd_step);
    DEBUBBLE_OVERRIDE(Kernels, sum_of_squares);

    void finish() override {}
};

}  // namespace debubble::exec
