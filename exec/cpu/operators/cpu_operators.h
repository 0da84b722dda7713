#pragma once

#include "exec/core/kernels.h"
#include "exec/cpu/row_walk.h"

/// The operators of Kernels on those of exec/cpu/fixed_order, of which oneDNN replaces some.
namespace debubble::exec {

/// Every operator computes in fp32, whatever the type of its operands: a walk cuts its rows into
/// blocks, which are copied to fp32 where necessary, and rounded once at the end.
class CpuOperators : public Kernels {
public:
    explicit CpuOperators(RowWalk walk) : walk_(std::move(walk)) {}

    DEBUBBLE_OVERRIDE(Kernels, linear_forward);
    DEBUBBLE_OVERRIDE(Kernels, linear_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, linear_backward_weight);
    DEBUBBLE_OVERRIDE(Kernels, add_bias);
    DEBUBBLE_OVERRIDE(Kernels, bias_backward_weight);
    DEBUBBLE_OVERRIDE(Kernels, token_embedding_forward);
    DEBUBBLE_OVERRIDE(Kernels, token_embedding_backward_weight);
    DEBUBBLE_OVERRIDE(Kernels, layer_norm_forward);
    DEBUBBLE_OVERRIDE(Kernels, layer_norm_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, layer_norm_backward_weight);
    DEBUBBLE_OVERRIDE(Kernels, rms_norm_forward);
    DEBUBBLE_OVERRIDE(Kernels, rms_norm_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, rms_norm_backward_weight);
    DEBUBBLE_OVERRIDE(Kernels, split_heads_forward);
    DEBUBBLE_OVERRIDE(Kernels, split_heads_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, rope_forward);
    DEBUBBLE_OVERRIDE(Kernels, rope_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, attention_forward);
    DEBUBBLE_OVERRIDE(Kernels, attention_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, activation_forward);
    DEBUBBLE_OVERRIDE(Kernels, activation_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, swiglu_forward);
    DEBUBBLE_OVERRIDE(Kernels, swiglu_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, residual_forward);
    DEBUBBLE_OVERRIDE(Kernels, add);
    DEBUBBLE_OVERRIDE(Kernels, dropout);
    DEBUBBLE_OVERRIDE(Kernels, route_forward);
    DEBUBBLE_OVERRIDE(Kernels, route_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, first_rows_of_experts);
    DEBUBBLE_OVERRIDE(Kernels, permute_forward);
    DEBUBBLE_OVERRIDE(Kernels, permute_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, combine_forward);
    DEBUBBLE_OVERRIDE(Kernels, combine_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_softmax);
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_rescale);
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_loss);
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_gradient);
    DEBUBBLE_OVERRIDE(Kernels, count_correct);
    DEBUBBLE_OVERRIDE(Kernels, cut_patches);
    DEBUBBLE_OVERRIDE(Kernels, class_token_forward);
    DEBUBBLE_OVERRIDE(Kernels, class_token_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, class_token_backward_weight);
    DEBUBBLE_OVERRIDE(Kernels, first_row_forward);
    DEBUBBLE_OVERRIDE(Kernels, first_row_backward_input);
    DEBUBBLE_OVERRIDE(Kernels, join_columns);
    DEBUBBLE_OVERRIDE(Kernels, take_columns);
    DEBUBBLE_OVERRIDE(Kernels, fill_zero);
    DEBUBBLE_OVERRIDE(Kernels, copy);
    DEBUBBLE_OVERRIDE(Kernels, scale);
    DEBUBBLE_OVERRIDE(Kernels, adam_step);
    DEBUBBLE_OVERRIDE(Kernels, sgd_step);
    DEBUBBLE_OVERRIDE(Kernels, sum_of_squares);
    void finish() override {}

protected:
    /// The elements of operands with one shape, as rows of one element.
    template <class Body>
    void each_element(const ConstTensorView& x, const Body& body) {
        walk_(x.shape.elements(), 1, body);
    }
    template <class Body>
    void each_row(const ConstTensorView& x, const Body& body) {
        walk_(rows_of(x), x.shape.columns(), body);
    }

    RowWalk walk_;
    Fp32Scratch scratch_;  ///< for operands that a walk does not cut
};

}  // namespace debubble::exec
