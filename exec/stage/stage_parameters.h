#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "exec/tensor.h"

/// A stage's parameters, as its operators see them.
namespace debubble::exec {

/// Indices are those of StageGraph::parameters; shapes are this rank's slice. The slices of
/// the weights of one operator (query, key, value) lie side by side in memory, in their
/// order, and so do those of its biases, so that one product can take them all.
class StageParameters {
public:
    virtual ~StageParameters() = default;
    virtual TensorView value(int parameter) = 0;     ///< in the compute type
    virtual TensorView gradient(int parameter) = 0;  ///< what backward passes add into

    /// Around the operators of one layer (nothing: embedding or head) in every pass, where
    /// parameters are sharded by layer: what open() gathered, close() drops.
    virtual void open(std::optional<int> /*layer*/) {}
    virtual void close(std::optional<int> /*layer*/) {}
    /// How long these two have waited for other ranks, over all calls.
    virtual std::chrono::nanoseconds communicated() const { return {}; }
};

}  // namespace debubble::exec
