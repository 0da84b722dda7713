#pragma once

#include <optional>

#include "exec/core/tensor.h"
#include "models/execution/execution.h"
#include "scenarios/plan/scenario.h"

namespace debubble::exec {

constexpr DataType tensor_type(models::DataType type) {
    switch (type) {
        case models::DataType::Fp32: return DataType::Fp32;
        case models::DataType::Fp16: return DataType::Fp16;
        case models::DataType::Bf16: return DataType::Bf16;
        case models::DataType::Fp8: break;  // refused by check_executed
    }
    return DataType::Fp32;
}

/// The state that a rank holds of each parameter: its types and its share. ZeRO is as in
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
