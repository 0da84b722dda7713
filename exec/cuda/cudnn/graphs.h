#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <cudnn_frontend.h>

#include "exec/cuda/kernels/attention.h"

/// Scaled dot-product attention as graphs of cuDNN's front end, for tensors in this project's
/// layout: [samples, rows, heads, head_dim]. cuDNN's statistics are this project's log_sum, the
/// logarithm of the sum of the exponentials of the scaled scores (cuDNN front-end's documentation,
/// operations, "Attention": Stats).
namespace debubble::exec::cuda::cudnn {

/// The names under which execute() is given the tensors' addresses.
enum class Id : std::int64_t { Q = 1, K, V, Out, LogSum, Dout, Dq, Dk, Dv };

using Graph = cudnn_frontend::graph::Graph;

/// The forward graph for an architecture (90 is Hopper), or, where it is 0, that of the thread's
/// GPU, which is queried when the graph is validated. Precondition: is_for_library().
std::shared_ptr<Graph> forward_graph(const AttentionShape& shape, Type type, int architecture = 0);
/// The backward graph. It is deterministic: the same operands leave the same bits.
std::shared_ptr<Graph> backward_graph(const AttentionShape& shape, Type type, int architecture = 0);

}  // namespace debubble::exec::cuda::cudnn
