#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/core/pieces/slice.h"
#include "models/graph/graph.h"

/// The layout of a stage's parameters in memory.
namespace debubble::exec {

/// The common part of both ranges; count 0 if they do not meet.
FlatRange intersection(const FlatRange& a, const FlatRange& b);

/// One parameter in its unit.
struct UnitSlot {
    int parameter = 0;  ///< index into StageGraph::parameters
    FlatRange range;    ///< range in the unit's buffer
};

/// Shares begin at multiples of so many elements: 32 bytes of 16-bit types, so that kernels read
/// them, and NCCL moves them, 16 bytes at a time.
inline constexpr std::int64_t kShareOf = 16;

/// The unit of gathering, dropping and reduction: the parameters of one layer, of the embedding, of
/// the head, or one parameter that is tied (its copies in two stages are then cut alike); a layer's
/// experts are a unit of their own where fewer ranks hold them. They lie in one flat buffer:
/// operator by operator, weights before biases.
struct ParameterUnit {
    /// "layer 3", "embedding", "head", "layer 3's norms", "layer 3's experts", or the tied
    /// parameter's name.
    std::string name;
    std::optional<int> layer;  ///< index in the model; unset outside the layers
    bool tied = false;
    bool experts = false;         ///< whether it holds experts alone
    bool matrices = false;        ///< whether it holds hidden matrices alone, apart from the rest
    bool head = false;            ///< whether it holds the final norm and the head, and is not tied
    std::vector<UnitSlot> slots;  ///< in the order of memory
    std::int64_t elements = 0;

    /// The elements of each of `shards` ranks: whole groups of kShareOf elements where there are
    /// several, the last of which may be padding, as may be all of the last ranks.
    std::int64_t share(int shards) const {
        if (shards == 1) return elements;
        return (elements + shards * kShareOf - 1) / (shards * kShareOf) * kShareOf;
    }
    FlatRange share_of(int shard, int shards) const {
        return {shard * share(shards), share(shards)};
    }
};

/// The parameters that are units of their own.
struct UnitsApart {
    bool norms = false;     ///< since the backward-input makes their gradients
    bool experts = false;   ///< since fewer ranks hold them
    bool matrices = false;  ///< since they have another state
};

/// The units of a stage in the order of its operators.
std::vector<ParameterUnit> units_of(const models::StageGraph& graph, UnitsApart apart = {});

}  // namespace debubble::exec
