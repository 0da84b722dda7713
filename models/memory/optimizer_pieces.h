#pragma once

#include <vector>

#include "models/graph/graph.h"

/// The tensors into which Megatron-LM's distributed optimizer cuts a rank's parameters.
namespace debubble::models {

/// The number of elements of every tensor of main parameters (and of each moment) that the last of
/// `shards` data-parallel ranks owns. Parameters lie in one buffer in the order in which their
/// gradients appear; a bucket closes when it holds `bucket_elements`; each rank owns an equal part
/// of every bucket, cut again where one parameter ends
/// (megatron/core/optimizer/distrib_optimizer.py). Experts have a buffer of their own, over shards
/// of their own.
std::vector<std::int64_t> optimizer_pieces(const StageGraph& graph, int shards,
                                           std::int64_t bucket_elements, bool experts = false);

/// The default bucket size, max(40 M, 1 M per data-parallel rank) elements, when reduction is
/// overlapped.
std::int64_t megatron_bucket_elements(int shards);

}  // namespace debubble::models
