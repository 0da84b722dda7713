#pragma once

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

/// The operators inside layers, apart from attention and experts: linear layers, norms, elementwise
/// operators, and copies.
namespace debubble::exec {

/// y = x W + b. Shapes: x [tokens, inputs], y [tokens, outputs], bias [outputs] or empty. The
/// weight is [outputs, inputs] in Hugging Face's Linear (Llama, ViT) and [inputs, outputs] in its
/// Conv1D (GPT-2).
class ProductKernels {
public:
    virtual void linear_forward(WeightLayout layout, ConstTensorView x, ConstTensorView weight,
                                ConstTensorView bias, TensorView y) = 0;
    /// dx = or += dy W^T. Adding is for layers that share an input (query, key, value).
    virtual void linear_backward_input(WeightLayout layout, ConstTensorView dy,
                                       ConstTensorView weight, TensorView dx, Write write) = 0;
    /// dweight += x^T dy; dbias += the sum of dy over the tokens, unless dbias is empty.
    virtual void linear_backward_weight(WeightLayout layout, ConstTensorView x, ConstTensorView dy,
                                        TensorView dweight, TensorView dbias) = 0;

    /// y += bias in every row: the bias follows a sum over tensor-parallel ranks.
    virtual void add_bias(ConstTensorView bias, TensorView y) = 0;
    /// dbias += the sum of dy over the tokens.
    virtual void bias_backward_weight(ConstTensorView dy, TensorView dbias) = 0;

    /// wide = x W + b, which the backward reads; y = activation(wide).
    virtual void linear_activation_forward(WeightLayout layout, Nonlinearity kind,
                                           ConstTensorView x, ConstTensorView weight,
                                           ConstTensorView bias, TensorView wide, TensorView y) = 0;
    /// Computes dwide, where dy is the gradient of a GEMM whose input was activation(wide).
    virtual void linear_activation_backward_input(WeightLayout layout, Nonlinearity kind,
                                                  ConstTensorView dy, ConstTensorView weight,
                                                  ConstTensorView wide, TensorView dwide) = 0;

protected:
    ~ProductKernels() = default;
};

/// Normalisation over the last dimension: x, y [tokens, hidden], weight and bias [hidden].
///
/// LayerNorm (Ba, Kiros, Hinton 2016): y = (x - mean) / sqrt(variance + eps) * weight + bias. The
/// bias and its gradient may be empty.
/// RMSNorm (Zhang and Sennrich 2019): y = x / sqrt(mean(x^2) + eps) * weight. Its x and dx may have
/// more columns than y: the first of them are those of y, and the others are not touched.
/// The backward reads the fp32 statistics: [tokens, 2] of LayerNorm (mean, 1 / deviation), [tokens]
/// of RMSNorm (the factor by which a token is scaled).
class NormKernels {
public:
    virtual void layer_norm_forward(double eps, ConstTensorView x, ConstTensorView weight,
                                    ConstTensorView bias, TensorView y, TensorView statistics) = 0;
    virtual void layer_norm_backward_input(ConstTensorView dy, ConstTensorView x,
                                           ConstTensorView weight, ConstTensorView statistics,
                                           TensorView dx, Write write) = 0;
    virtual void layer_norm_backward_weight(ConstTensorView dy, ConstTensorView x,
                                            ConstTensorView statistics, TensorView dweight,
                                            TensorView dbias) = 0;
    virtual void rms_norm_forward(double eps, ConstTensorView x, ConstTensorView weight,
                                  TensorView y, TensorView statistics) = 0;
    virtual void rms_norm_backward_input(ConstTensorView dy, ConstTensorView x,
                                         ConstTensorView weight, ConstTensorView statistics,
                                         TensorView dx, Write write) = 0;
    virtual void rms_norm_backward_weight(ConstTensorView dy, ConstTensorView x,
                                          ConstTensorView statistics, TensorView dweight) = 0;

    /// sum = x + branch; y = norm(sum). y may be branch.
    virtual void residual_layer_norm_forward(double eps, ConstTensorView x, ConstTensorView branch,
                                             ConstTensorView weight, ConstTensorView bias,
                                             TensorView sum, TensorView y,
                                             TensorView statistics) = 0;
    virtual void residual_rms_norm_forward(double eps, ConstTensorView x, ConstTensorView branch,
                                           ConstTensorView weight, TensorView sum, TensorView y,
                                           TensorView statistics) = 0;
    /// dx = the norm's gradient, plus `through` (the gradient that reaches x past the norm) unless
    /// that is empty; dx may be `through`. Adds into dweight and dbias.
    virtual void layer_norm_backward(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                     ConstTensorView statistics, ConstTensorView through,
                                     TensorView dx, TensorView dweight, TensorView dbias) = 0;
    virtual void rms_norm_backward(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                   ConstTensorView statistics, ConstTensorView through,
                                   TensorView dx, TensorView dweight) = 0;

protected:
    ~NormKernels() = default;
};

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
