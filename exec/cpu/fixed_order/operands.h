#pragma once

#include <concepts>
#include <type_traits>

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

/// The form of the operators of fixed order: functions over views, one for each of forward,
/// backward_input and backward_weight, instantiated for float (the executor) and double (finite
/// differences).
///
/// * `dx` is the gradient of the loss with respect to `x`.
/// * backward_weight always adds into the gradient, one term after the other in row
///   order, so two microbatches one after the other leave the bits of one that holds both.
/// * backward_input overwrites, except where a `Write` argument says otherwise.
/// * Operands that are not changed are In; an In that an operator may lack is empty.
/// * No operator allocates memory that grows faster than its operands.
namespace debubble::exec::fixed_order {

template <class T>
concept Real = std::same_as<T, float> || std::same_as<T, double>;

/// Not deduced, so that a View<T> passes as read-only; an Out decides the type.
template <class T>
using In = std::type_identity_t<View<const T>>;
template <class T>
using Out = View<T>;

}  // namespace debubble::exec::fixed_order
