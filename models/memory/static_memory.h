#pragma once

#include <optional>

#include "base/purposes.h"
#include "models/graph/graph.h"

/// Bytes that a stage holds throughout the step, however many microbatches are in flight.
namespace debubble::models {

/// The choices of optimizer and data parallelism that decide a stage's static memory. ZeRO as in
/// Rajbhandari et al. 2020: stage 1 cuts optimizer state, 2 gradients too, 3 parameters too.
/// Megatron-LM's distributed optimizer is stage 1.
struct StaticPolicy {
    std::optional<DataType> main_parameters = DataType::Fp32;  ///< type of a copy, if wider than
                                                               ///< compute
    DataType moments = DataType::Fp32;
    /// Main parameters keep the bits alone that parameters in bf16 lack: 2 bytes instead of 4
    /// (TransformerEngine's FusedAdam, store_param_remainders).
    bool remainders = false;
    /// The optimizer makes an fp32 copy of gradients of another type while it runs.
    bool converts_gradients = false;
    /// While it runs, the optimizer has fp32 copies of its moments of another type
    /// (TransformerEngine's FusedAdam.get_unscaled_state).
    bool widens_moments = false;
    int moment_count = 2;  ///< 2 for Adam; SGD keeps one for momentum, or none
    /// Muon: hidden matrices have one moment less, and are made orthogonal one after another.
    bool steps_matrices = false;
    int zero_stage = 0;
    bool shards_state = false;  ///< the optimizer's state is cut at stage 0 too
    /// A gradient of the compute type stays beside the sum of all (DeepSpeed's BF16_Optimizer).
    bool second_gradients = false;
    int shards = 1;  ///< of the data-parallel x context-parallel ranks, those over which ZeRO cuts
    int expert_shards = 1;  ///< of the ranks that have the same part of the same experts
    /// With stage 3 the main parameters are all that is kept of a shard: they are cast when it is
    /// gathered (PyTorch's FSDP).
    bool casts_shards = false;
    /// With stage 3 the gathered parameters stay for the backward, beside the shards.
    bool keeps_parameters = false;
    /// With stage 3, elements of the rank's parameters that stay whole beside the shards, for being
    /// small (DeepSpeed's stage3_param_persistence_threshold).
    std::int64_t whole_parameters = 0;
    /// Gradients of sharded stages are whole until the last microbatch's are there.
    bool whole_gradients = false;
    /// Gradients have a buffer of their own for the whole run; otherwise they
    /// appear during the backward and are dropped after the step (PyTorch's .grad).
    bool gradient_buffer = true;
    bool moments_exist = true;       ///< false in the very first step
    bool state_on_host = false;      ///< main parameters and moments are on the host
    Bytes offload_buffer;            ///< buffer through which that state passes while the device
                                     ///< steps it
    bool step_copies = false;        ///< copies of what a step changes, until the step is known to
                                     ///< be valid
    bool ddp_buckets = false;        ///< PyTorch DDP reduces in copies of the gradients
    bool foreach_optimizer = false;  ///< one gradient-sized temporary while stepping
    Bytes library_workspace;         ///< cuBLAS, TransformerEngine, communication buffers
    bool cuts_state() const { return zero_stage >= 1 || shards_state; }
    friend bool operator==(const StaticPolicy&, const StaticPolicy&) = default;
};

/// Bytes per parameter: the main copy and the moments.
std::int64_t optimizer_state_width(const StaticPolicy& policy, DataType compute);

struct StaticMemory {
    MemoryByClass held{};
    Bytes gradients_in_backward;  ///< bytes of gradients that appear in the backward, without a
                                  ///< buffer
    Bytes optimizer_step;         ///< bytes beyond all others, only while the optimizer runs
};

StaticMemory static_memory(const StageGraph& graph, const StaticPolicy& policy);
/// The same for a rank that holds this many parameters in stages that are like the graph but
/// longer, or in several: buffers are counted once.
StaticMemory static_memory(const StageGraph& graph, const StaticPolicy& policy,
                           const ParameterCount& parameters);

}  // namespace debubble::models
