#pragma once

#include "exec/core/random_stream.h"
#include "exec/cpu/fixed_order/operands.h"

/// Dropout without a stored mask: whether an element is dropped is a function of the stream and of
/// the element's place in the whole activation, not of the rank, slice or microbatch that holds it.
/// Shapes: x, y [samples, rows, columns].
namespace debubble::exec::fixed_order {

/// Scales `count` contiguous elements, the first one at `element` of the stream, by 0 or by
/// dropout.scale(). `from` and `to` may be the same.
template <Real T>
void drop_run(const Dropout& dropout, std::uint64_t element, std::int64_t count, const T* from,
              T* to);

/// y = x with some elements dropped and the rest scaled up; y may be x.
template <Real T>
void dropout_forward(const Dropout& dropout, const Window& window, In<T> x, Out<T> y);

/// The same mask on the gradient; dx may be dy.
template <Real T>
void dropout_backward_input(const Dropout& dropout, const Window& window, In<T> dy, Out<T> dx);

}  // namespace debubble::exec::fixed_order
