#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/core/pieces/slice.h"
#include "models/graph.h"

/// How the parameters of a stage lie in memory.
namespace debubble::exec {

/// What both have; count 0 if they do not meet.
FlatRange intersection(const FlatRange& a, const FlatRange& b);

/// One parameter in its unit.
struct UnitSlot {
    int parameter = 0;  ///< index into StageGraph::parameters
    FlatRange range;    ///< of the unit's buffer
    bool norm = false;  ///< weight or bias of a normalisation
};

/// What is gathered, dropped and reduced at once: the parameters of one layer, of the
/// embedding, of the head, or one that is tied (its copies in two stages are then cut alike).
/// They lie in one flat buffer: operator by operator, weights before biases.
struct ParameterUnit {
    std::string name;  ///< "layer 3", "embedding", "head", "layer 3's norms", or the tied one's
    std::optional<int> layer;  ///< of the model; unset beside the layers
    bool tied = false;
    bool head = false;            ///< of the final norm and the head, and not tied
    std::vector<UnitSlot> slots;  ///< in the order of memory
    std::int64_t elements = 0;

    /// Of each of `shards` ranks, the last of which may own padding.
    std::int64_t share(int shards) const { return (elements + shards - 1) / shards; }
    FlatRange share_of(int shard, int shards) const {
        return {shard * share(shards), share(shards)};
    }
};

/// In the order of the operators. `norms_apart`: norms are units of their own, since their
/// gradients are made by the backward-input.
std::vector<ParameterUnit> units_of(const models::StageGraph& graph, bool norms_apart = false);

}  // namespace debubble::exec
