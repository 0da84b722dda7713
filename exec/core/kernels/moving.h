#pragma once

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

/// Operators that move elements and compute nothing.
class MovingKernels {
public:
    /// x [rows, columns] = its column parts, which lie one after the other, [parts][rows, columns /
    /// parts], as an all-gather leaves them.
    virtual void join_columns(int parts, ConstTensorView gathered, TensorView x) = 0;
    /// y [rows, columns / parts] = one of the column parts of x [rows, columns].
    virtual void take_columns(int part, int parts, ConstTensorView x, TensorView y) = 0;
    virtual void fill_zero(TensorView x) = 0;
    /// Converts types.
    virtual void copy(ConstTensorView from, TensorView to) = 0;
    /// `from` and `to` are the first blocks, of one type.
    virtual void copy_blocks(const Blocks& blocks, ConstTensorView from, TensorView to) = 0;

protected:
    ~MovingKernels() = default;
};

}  // namespace debubble::exec
