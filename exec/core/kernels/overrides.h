#pragma once

/// Lets a back end declare an operator with the parameters that the operator's interface states,
/// without writing them again.
namespace debubble::exec {

template <class Member>
struct SignatureOfMember;
template <class Class, class Function>
struct SignatureOfMember<Function Class::*> {
    using Type = Function;
};

/// The function type of a member function: SignatureOf<&Kernels::scale> is void(double,
/// TensorView).
template <auto member>
using SignatureOf = typename SignatureOfMember<decltype(member)>::Type;

}  // namespace debubble::exec

// GCC 12 parses no `override` after a function that is declared by its type; the function overrides
// all the same, since its name and type are the interface's.
#if defined(__clang__)
#define DEBUBBLE_OVERRIDE_WORD override
#else
#define DEBUBBLE_OVERRIDE_WORD
#endif

/// Declares that a class has its own `function` of `Interface`:
///
///     DEBUBBLE_OVERRIDE(Kernels, scale);  // void scale(double factor, TensorView x) override;
#define DEBUBBLE_OVERRIDE(Interface, function) \
    SignatureOf<&Interface::function> function DEBUBBLE_OVERRIDE_WORD

/// The operators that every back end has itself, since Kernels composes them of no others: a class
/// that derives from Kernels declares them by these two lists, and then those that it has instead
/// of a composed one.

/// GEMMs, and attention, which is made of them.
#define DEBUBBLE_OVERRIDE_PRODUCTS                      \
    DEBUBBLE_OVERRIDE(Kernels, linear_forward);         \
    DEBUBBLE_OVERRIDE(Kernels, linear_backward_input);  \
    DEBUBBLE_OVERRIDE(Kernels, linear_backward_weight); \
    DEBUBBLE_OVERRIDE(Kernels, attention_forward);      \
    DEBUBBLE_OVERRIDE(Kernels, attention_backward_input)

/// Everything else.
#define DEBUBBLE_OVERRIDE_ALL_BUT_PRODUCTS                       \
    DEBUBBLE_OVERRIDE(Kernels, add_bias);                        \
    DEBUBBLE_OVERRIDE(Kernels, bias_backward_weight);            \
    DEBUBBLE_OVERRIDE(Kernels, token_embedding_forward);         \
    DEBUBBLE_OVERRIDE(Kernels, token_embedding_backward_weight); \
    DEBUBBLE_OVERRIDE(Kernels, layer_norm_forward);              \
    DEBUBBLE_OVERRIDE(Kernels, layer_norm_backward_input);       \
    DEBUBBLE_OVERRIDE(Kernels, layer_norm_backward_weight);      \
    DEBUBBLE_OVERRIDE(Kernels, rms_norm_forward);                \
    DEBUBBLE_OVERRIDE(Kernels, rms_norm_backward_input);         \
    DEBUBBLE_OVERRIDE(Kernels, rms_norm_backward_weight);        \
    DEBUBBLE_OVERRIDE(Kernels, split_heads_forward);             \
    DEBUBBLE_OVERRIDE(Kernels, split_heads_backward_input);      \
    DEBUBBLE_OVERRIDE(Kernels, rope_forward);                    \
    DEBUBBLE_OVERRIDE(Kernels, rope_backward_input);             \
    DEBUBBLE_OVERRIDE(Kernels, head_norm_forward);               \
    DEBUBBLE_OVERRIDE(Kernels, head_norm_backward);              \
    DEBUBBLE_OVERRIDE(Kernels, width_norm_sums);                 \
    DEBUBBLE_OVERRIDE(Kernels, width_norm_forward);              \
    DEBUBBLE_OVERRIDE(Kernels, width_norm_gradient_sums);        \
    DEBUBBLE_OVERRIDE(Kernels, width_norm_backward);             \
    DEBUBBLE_OVERRIDE(Kernels, grow_queries);                    \
    DEBUBBLE_OVERRIDE(Kernels, latent_heads_forward);            \
    DEBUBBLE_OVERRIDE(Kernels, latent_heads_backward_input);     \
    DEBUBBLE_OVERRIDE(Kernels, sinks_forward);                   \
    DEBUBBLE_OVERRIDE(Kernels, sinks_backward_weight);           \
    DEBUBBLE_OVERRIDE(Kernels, activation_forward);              \
    DEBUBBLE_OVERRIDE(Kernels, activation_backward_input);       \
    DEBUBBLE_OVERRIDE(Kernels, gated_forward);                   \
    DEBUBBLE_OVERRIDE(Kernels, gated_backward_input);            \
    DEBUBBLE_OVERRIDE(Kernels, output_gate_forward);             \
    DEBUBBLE_OVERRIDE(Kernels, output_gate_backward_input);      \
    DEBUBBLE_OVERRIDE(Kernels, soft_cap_forward);                \
    DEBUBBLE_OVERRIDE(Kernels, soft_cap_backward_input);         \
    DEBUBBLE_OVERRIDE(Kernels, residual_forward);                \
    DEBUBBLE_OVERRIDE(Kernels, add);                             \
    DEBUBBLE_OVERRIDE(Kernels, scale);                           \
    DEBUBBLE_OVERRIDE(Kernels, dropout);                         \
    DEBUBBLE_OVERRIDE(Kernels, route_forward);                   \
    DEBUBBLE_OVERRIDE(Kernels, route_backward_input);            \
    DEBUBBLE_OVERRIDE(Kernels, drop_over_capacity);              \
    DEBUBBLE_OVERRIDE(Kernels, count_chosen);                    \
    DEBUBBLE_OVERRIDE(Kernels, router_losses_forward);           \
    DEBUBBLE_OVERRIDE(Kernels, router_losses_backward_input);    \
    DEBUBBLE_OVERRIDE(Kernels, shared_gate_forward);             \
    DEBUBBLE_OVERRIDE(Kernels, shared_gate_backward);            \
    DEBUBBLE_OVERRIDE(Kernels, first_rows_of_experts);           \
    DEBUBBLE_OVERRIDE(Kernels, permute_forward);                 \
    DEBUBBLE_OVERRIDE(Kernels, permute_backward_input);          \
    DEBUBBLE_OVERRIDE(Kernels, combine_forward);                 \
    DEBUBBLE_OVERRIDE(Kernels, combine_backward_input);          \
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_softmax);           \
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_rescale);           \
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_loss);              \
    DEBUBBLE_OVERRIDE(Kernels, cross_entropy_gradient);          \
    DEBUBBLE_OVERRIDE(Kernels, count_correct);                   \
    DEBUBBLE_OVERRIDE(Kernels, cut_patches);                     \
    DEBUBBLE_OVERRIDE(Kernels, class_token_forward);             \
    DEBUBBLE_OVERRIDE(Kernels, class_token_backward_input);      \
    DEBUBBLE_OVERRIDE(Kernels, class_token_backward_weight);     \
    DEBUBBLE_OVERRIDE(Kernels, first_row_forward);               \
    DEBUBBLE_OVERRIDE(Kernels, first_row_backward_input);        \
    DEBUBBLE_OVERRIDE(Kernels, join_columns);                    \
    DEBUBBLE_OVERRIDE(Kernels, take_columns);                    \
    DEBUBBLE_OVERRIDE(Kernels, fill_zero);                       \
    DEBUBBLE_OVERRIDE(Kernels, copy);                            \
    DEBUBBLE_OVERRIDE(Kernels, adam_step);                       \
    DEBUBBLE_OVERRIDE(Kernels, sgd_step);                        \
    DEBUBBLE_OVERRIDE(Kernels, sum_of_squares);                  \
    DEBUBBLE_OVERRIDE(Kernels, muon_momentum);                   \
    DEBUBBLE_OVERRIDE(Kernels, muon_step);                       \
    DEBUBBLE_OVERRIDE(Kernels, scale_to_unit_norm);              \
    DEBUBBLE_OVERRIDE(Kernels, combine)
