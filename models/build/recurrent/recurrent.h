#pragma once

#include <string>
#include <vector>

#include "models/build/graph_builder.h"
#include "models/build/layer_names.h"

/// Shared parts of all kinds of recurrent layers. Their heads are cut by tensor parallelism, and
/// where context parallelism is on, its ranks use all-to-all around the recurrence, as
/// Megatron-Core does (ssm/mamba_context_parallel.py), independently of how attention shares its
/// keys.
namespace debubble::models {

/// A rank's tokens during the recurrence: whole sequences.
struct Recurrence {
    std::int64_t samples = 1;
    std::int64_t length = 1;  ///< tokens of one of its sequences
    std::int64_t chunk = 1;   ///< tokens of a chunk, the last of which may be shorter
    int ranks = 1;            ///< that share the heads: tensor- and context-parallel ones

    std::int64_t tokens() const { return samples * length; }
    std::int64_t chunks() const { return samples * ((length + chunk - 1) / chunk); }
};
/// Refuses slices of a sequence, whose states nothing passes on.
Recurrence recurrence(GraphBuilder& builder, std::int64_t chunk);
/// The rank's part of `whole`, which must divide evenly.
std::int64_t share(GraphBuilder& builder, const Recurrence& rank, std::int64_t whole,
                   const char* what);

/// Applies the framework's slowdown to the recurrence's kernels.
void set_pace(const GraphBuilder& builder, Operator& recurrence);

/// A parameter that is cut along its first dimension as the heads are.
int cut_by_heads(GraphBuilder& builder, const std::string& name, std::vector<std::int64_t> shape,
                 Initial initial = Initial::Normal);

/// Whole sequences of some heads from the rank's tokens of all of its heads, and back: `width`
/// columns a token of the rank. Without context parallelism a value is returned as it is.
Value to_sequences(GraphBuilder& builder, const OperatorPlace& place, Value x, std::int64_t width);
Value to_tokens(GraphBuilder& builder, const OperatorPlace& place, Value x, std::int64_t width);

/// RMS norms of groups of columns, times the SiLU of a gate if there is one.
struct GroupedNormShape {
    std::int64_t tokens = 1;
    std::int64_t columns = 1;
    std::int64_t groups = 1;
};
Value grouped_norm(GraphBuilder& builder, const OperatorPlace& place, const GroupedNormShape& shape,
                   int gain, Value x, std::optional<op::Value> gate);

}  // namespace debubble::models
