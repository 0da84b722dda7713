#pragma once

#include "tests/exec/support/tensors.h"
#include "tests/oracle/oracle.h"

/// The common parts of the tests that the oracle's backwards are the derivatives of its forwards.
/// The loss of each is the dot product of the operator's output with `dy`, so dy is the output's
/// gradient.
namespace debubble::exec {

inline Oracle oracle;

inline Tensor random_fp64(const Shape& shape, unsigned seed) {
    return random_tensor<double>(shape, seed);
}
inline Tensor zeros(const Shape& shape) {
    return Tensor(shape, DataType::Fp64);
}
inline double dot_of(const Tensor& a, const Tensor& b) {
    return dot(a.as<double>(), b.as<double>());
}

}  // namespace debubble::exec
