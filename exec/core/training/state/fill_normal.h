#pragma once

#include "exec/core/random_stream.h"
#include "exec/core/tensor.h"

/// The initial weights. Every element is a function of its parameter's stream and of its index in
/// the whole tensor, so each rank makes only its own slice, and every layout starts from the same
/// network.
namespace debubble::exec {

/// Fills `run` with elements first, first + 1, ... of a whole tensor whose elements are normally
/// distributed around zero (Box and Muller 1958; two from each pair of words). It is called once
/// per stretch of a slice that is contiguous in the whole tensor.
template <class T>
void fill_normal(const RandomStream& stream, double deviation, std::int64_t first, View<T> run);

}  // namespace debubble::exec
