#pragma once

#include "exec/core/operator_options.h"
#include "exec/cpu/loops/operands.h"

/// RMS norms of heads inside a packed tensor, as in exec/core/kernels/attention.h. Shapes: x
/// [tokens, columns], kept [tokens, fewer columns], statistics [tokens, heads of all runs], gain
/// [head_dim] or empty.
namespace debubble::exec::loops {

void head_norm_forward(double eps, const HeadRun& run, In gain, Out x, Out kept, Out statistics);

void head_norm_backward_input(const HeadRun& run, In gain, In kept, In statistics, Out dx);

/// Reads the gradient of the normed heads, which the backward-input overwrites.
void head_norm_backward_weight(const HeadRun& run, In kept, In statistics, In dy, Out dgain);

/// The same over all columns of a run, which lies on several ranks: sums [tokens, runs] are those
/// of this rank, or of all of them; `columns` are those of all ranks.
void width_norm_sums(const HeadRun& run, In x, Out sums);
void width_norm_forward(double eps, std::int64_t columns, const HeadRun& run, In gain, In sums,
                        Out x, Out kept, Out statistics);
void width_norm_gradient_sums(const HeadRun& run, In gain, In kept, In dy, Out sums);
void width_norm_backward_input(std::int64_t columns, const HeadRun& run, In gain, In kept,
                               In statistics, In sums, Out dx);
/// Reads the gradient that the backward-input overwrites.
void width_norm_backward_weight(const HeadRun& run, In kept, In statistics, In dy, Out dgain);

}  // namespace debubble::exec::loops
