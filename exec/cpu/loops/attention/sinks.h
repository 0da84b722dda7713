#pragma once

#include "exec/cpu/loops/operands.h"

/// Attention sinks as in exec/core/kernels/attention.h: out, dout [samples, rows, heads, width],
/// log_sum [samples, heads, rows], sinks [heads].
namespace debubble::exec::loops {

void sinks_forward(In sinks, Out out, Out log_sum);

void sinks_backward_weight(In dout, In out, In log_sum, In sinks, Out dsinks);

}  // namespace debubble::exec::loops
