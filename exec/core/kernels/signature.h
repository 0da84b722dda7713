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
