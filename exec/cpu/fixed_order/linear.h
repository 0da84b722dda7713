#pragma once

#include "exec/cpu/loops/operands.h"

/// y = x W + b. Shapes: x [tokens, inputs], y [tokens, outputs], bias [outputs] or empty.
/// The weight is stored [outputs, inputs] in Hugging Face's Linear (Llama, ViT) and
/// [inputs, outputs] in its Conv1D (GPT-2).
namespace debubble::exec::fixed_order {

using loops::In;
using loops::Out;

void linear_forward(WeightLayout layout, In x, In weight, In bias, Out y);

/// dx = or += dy W^T; adding is for layers that share an input (query, key, value).
void linear_backward_input(WeightLayout layout, In dy, In weight, Out dx, Write write);

/// dweight += x^T dy, and dbias += sum of dy over the tokens unless it is empty.
void linear_backward_weight(WeightLayout layout, In x, In dy, Out dweight, Out dbias);

}  // namespace debubble::exec::fixed_order
