#pragma once

#include "exec/core/tensor.h"

namespace debubble::exec {

/// The cosines and sines of rotary position embedding (Su et al. 2021), each [positions, head_dim /
/// 2], of the angle position * theta^(-2 i / head_dim). For float and double.
template <class T>
void rope_table(double theta, View<T> cosines, View<T> sines);

}  // namespace debubble::exec
