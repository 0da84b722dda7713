#pragma once

#include "exec/core/kernels.h"
#include "exec/core/kernels/overrides.h"

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

    DEBUBBLE_OVERRIDE_PRODUCTS;
    DEBUBBLE_OVERRIDE_ALL_BUT_PRODUCTS;
    void finish() override {}
};

}  // namespace debubble::exec
