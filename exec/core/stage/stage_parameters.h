#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "exec/core/tensor.h"

/// A stage's parameters, as its operators see them.
namespace debubble::exec {

/// The layers of a pass (nothing: embedding or head) in the order in which their operators come;
/// neighbours differ.
using PassOrder = std::vector<std::optional<int>>;

/// A backward-weight makes gradients of activations alone.
enum class PassReads : std::uint8_t { Parameters, NoParameters };

/// Indices are those of StageGraph::parameters; shapes are this rank's slice. The slices of
/// the weights of one operator (query, key, value) lie side by side in memory, in their
/// order, and so do those of its biases, so that one product can take them all.
class StageParameters {
public:
    virtual ~StageParameters() = default;
    /// In the compute type; without data in a pass that reads no parameters and has none.
    virtual TensorView value(int parameter) = 0;
    virtual TensorView gradient(int parameter) = 0;  ///< what backward passes add into

    // Around every pass, and in it around the operators of each layer of its order: for those who
    // gather parameters, or reduce gradients, while other layers compute.
    virtual void begin_pass(const PassOrder& /*order*/, PassReads /*reads*/) {}
    virtual void open(std::optional<int> /*layer*/) {}
    virtual void close(std::optional<int> /*layer*/) {}
    virtual void end_pass() {}
    /// How long these have waited for other ranks, over all calls.
    virtual std::chrono::nanoseconds communicated() const { return {}; }
};

}  // namespace debubble::exec
