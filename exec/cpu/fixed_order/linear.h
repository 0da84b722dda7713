#pragma once

#include "exec/cpu/fixed_order/operands.h"

/// y = x W + b. Shapes: x [tokens, inputs], y [tokens, outputs], bias [outputs] or empty.
/// The weight is stored [outputs, inputs] in Hugging Face's Linear (Llama, ViT) and
/// [inputs, outputs] in its Conv1D (GPT-2).
namespace debubble::exec::fixed_order {

template <Real T>
void linear_forward(WeightLayout layout, In<T> x, In<T> weight, In<T> bias, Out<T> y);

/// y += bias, to every row.
template <Real T>
void add_bias(In<T> bias, Out<T> y);

/// dx = or += dy W^T; adding is for layers that share an input (query, key, value).
template <Real T>
void linear_backward_input(WeightLayout layout, In<T> dy, In<T> weight, Out<T> dx, Write write);

/// dweight += x^T dy, and dbias += sum of dy over the tokens unless it is empty.
template <Real T>
void linear_backward_weight(WeightLayout layout, In<T> x, In<T> dy, Out<T> dweight, Out<T> dbias);

/// total [columns] += the sum of x [rows, columns] over its rows, in their order.
template <Real T>
void add_rows(In<T> x, Out<T> total);

}  // namespace debubble::exec::fixed_order
