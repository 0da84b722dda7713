#pragma once

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

/// Operators that compute each element by itself. Operands of one call have the same shape unless
/// said otherwise.
class ElementwiseKernels {
public:
    virtual void activation_forward(Nonlinearity kind, ConstTensorView x, TensorView y) = 0;
    virtual void activation_backward_input(Nonlinearity kind, ConstTensorView dy, ConstTensorView x,
                                           TensorView dx) = 0;
    /// y [tokens, ffn] = f(gate) * up, with f as `kind` says. gate_up [tokens, 2 ffn] has in each
    /// row the gates, then up.
    virtual void gated_forward(Gate kind, ConstTensorView gate_up, TensorView y) = 0;
    virtual void gated_backward_input(Gate kind, ConstTensorView dy, ConstTensorView gate_up,
                                      TensorView dgate_up) = 0;
    /// y = x times the sigmoid of gate.
    virtual void output_gate_forward(ConstTensorView x, ConstTensorView gate, TensorView y) = 0;
    virtual void output_gate_backward_input(ConstTensorView dy, ConstTensorView x,
                                            ConstTensorView gate, TensorView dx,
                                            TensorView dgate) = 0;
    /// y = cap tanh(x / cap); y may be x.
    virtual void soft_cap_forward(double cap, ConstTensorView x, TensorView y) = 0;
    /// dx may be dy or x.
    virtual void soft_cap_backward_input(double cap, ConstTensorView dy, ConstTensorView x,
                                         TensorView dx) = 0;
    /// y = x + branch; y may be either.
    virtual void residual_forward(ConstTensorView x, ConstTensorView branch, TensorView y) = 0;
    /// total += term.
    virtual void add(ConstTensorView term, TensorView total) = 0;
    /// x *= factor.
    virtual void scale(double factor, TensorView x) = 0;
    /// x [samples, rows, columns]; y may be x. The backward is the same call on gradients.
    virtual void dropout(const Dropout& dropout, const Window& window, ConstTensorView x,
                         TensorView y) = 0;

protected:
    ~ElementwiseKernels() = default;
};

}  // namespace debubble::exec
