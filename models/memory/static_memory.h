#pragma once

#include <optional>
#include <vector>

#include "base/purposes.h"
#include "models/graph/graph.h"

/// Bytes that a stage holds throughout the step, independent of the microbatches in flight.
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
    /// A gradient of the compute type is kept in addition to the accumulated one (DeepSpeed's
    /// BF16_Optimizer).
    bool second_gradients = false;
    int shards = 1;  ///< of the data-parallel x context-parallel ranks, those over which ZeRO cuts
    int expert_shards = 1;  ///< of the ranks that have the same part of the same experts
    /// With stage 3 the main parameters are all that is kept of a shard: they are cast when it is
    /// gathered (PyTorch's FSDP).
    bool casts_shards = false;
    /// With stage 3 the gathered parameters stay for the backward, in addition to the shards.
    bool keeps_parameters = false;
    /// With stage 3, elements of the rank's parameters that stay unsharded because their parameter
    /// is small (DeepSpeed's stage3_param_persistence_threshold).
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

// The tensors into which Megatron-LM's distributed optimizer cuts a rank's parameters.

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
