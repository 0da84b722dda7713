#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/core/pieces/pieces.h"
#include "exec/core/tensor.h"
#include "models/execution/execution.h"
#include "models/graph/graph.h"
#include "scenarios/plan/scenario.h"

/// The layout of a stage's parameters in memory, and the state that a rank holds of them.
namespace debubble::exec {

/// The common part of both ranges; count 0 if they do not meet.
FlatRange intersection(const FlatRange& a, const FlatRange& b);

/// One parameter in its unit.
struct UnitSlot {
    int parameter = 0;  ///< index into StageGraph::parameters
    FlatRange range;    ///< range in the unit's buffer
};

/// Shares begin at multiples of this many elements, which are 32 bytes of 16-bit types, so that
/// kernels read them, and NCCL moves them, 16 bytes at a time.
inline constexpr std::int64_t kShareOf = 16;

/// The unit of gathering, dropping and reduction: the parameters of one layer, of the embedding, of
/// the head, or one parameter that is tied (its copies in two stages are then cut in the same way);
/// a layer's experts are a unit of their own where fewer ranks hold them. They lie in one flat
/// buffer: operator by operator, weights before biases.
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

constexpr DataType tensor_type(models::DataType type) {
    switch (type) {
        case models::DataType::Fp32: return DataType::Fp32;
        case models::DataType::Fp16: return DataType::Fp16;
        case models::DataType::Bf16: return DataType::Bf16;
        case models::DataType::Fp8: break;  // refused by check_supported
    }
    return DataType::Fp32;
}

/// The state that a rank holds of each parameter: types, and the share under ZeRO. ZeRO is as in
/// Rajbhandari et al. 2020, in the terms of models/memory/static_memory.h.
struct StatePolicy {
    DataType compute = DataType::Fp32;
    DataType gradients = DataType::Fp32;
    DataType moments = DataType::Fp32;
    /// Type of the main parameters, which the optimizer steps; unset: it steps the parameters.
    std::optional<DataType> main;
    DataType wire = DataType::Fp32;  ///< type of gradients that are sent
    int moment_count = 2;
    /// Muon: hidden matrices are units of their own, with one moment less.
    bool steps_matrices = false;
    int zero_stage = 0;              ///< 0 where there is one shard, since nothing can be cut
    int shards = 1;                  ///< number of ranks that share a parameter: data x context
    bool gathers_in_passes = false;  ///< whether it is ZeRO-3 with `wrap: layer`
    bool offload_optimizer = false;
    /// Size of a device's buffer through which offloaded state passes to be stepped.
    Bytes offload_buffer{};

    bool shares_optimizer() const { return zero_stage >= 1; }
    bool shares_gradients() const { return zero_stage >= 2; }
    bool shares_values() const { return zero_stage >= 3; }
};

StatePolicy state_policy(const scenarios::Scenario& scenario, int moment_count);
/// The policy of experts, which other ranks share.
StatePolicy expert_state_policy(const scenarios::Scenario& scenario, int moment_count);

}  // namespace debubble::exec
