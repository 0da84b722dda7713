#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "models/execution/execution.h"
#include "models/execution/laws.h"
#include "scenarios/software/stage3_limits.h"
#include "schedule/transport.h"

/// The behaviour of a training framework, apart from model and machine. Shipped profiles are YAML
/// in scenarios/frameworks/; a scenario overrides any key.
namespace debubble::scenarios {

enum class OptimizerKind { FusedAdam, ForeachAdam, PerTensorAdam };
enum class PointToPoint { Full, ScatterGather };  ///< the whole tensor, or 1/t of it over each NIC
/// Which point-to-point messages are blocking, for the sender and for both hosts (Megatron-LM's
/// batched messages without --overlap-p2p-communication).
enum class MessagesBlock : std::uint8_t {
    Never,
    WithoutChunks,    ///< of GPipe and 1F1B; those of interleaved 1F1B overlap
    ByWholeBackward,  ///< of GPipe, 1F1B and interleaved 1F1B
    Always
};
/// Whether the experts' products, nonlinearity and casts are fused (KernelOptions::fused_experts).
enum class FusedExperts : std::uint8_t {
    Never,
    ByRelease,  ///< from the release of 2026-06 on, where the recipe and the GPU have it
    Always
};
/// The collectives of replicas that shard the optimizer state: of gradients, and of parameters
/// after the step.
enum class GradReduction : std::uint8_t {
    Bucket,  ///< reduce-scatters and all-gathers of all replicas' shares together
    Owner,   ///< a reduction to each owner of a share, and a broadcast from it, one after another
};
/// The granularity of ZeRO-3's all-gathers and reductions.
enum class Gather : std::uint8_t {
    Unit,       ///< the parameters of a unit, as a layer, in one tensor
    Parameter,  ///< each parameter by itself, through one adapter of a node
};
enum class AllocatorModel { Exact, PyTorchCaching, PyTorchExpandable, Arena };

/// The communication inside a pass, by kinds that a pair of passes may hide.
enum class Exchange : std::uint8_t {
    ExpertAllToAll,     ///< tokens to their experts, and back
    Tensor,             ///< of tensor and sequence parallelism, and of experts that are cut
    Context,            ///< of keys and values, or of heads
    ShardedParameters,  ///< gathered and reduced layer by layer (ZeRO-3)
};
inline constexpr std::size_t kExchanges = 4;
using Exchanges = ArrayBy<Exchange, bool, kExchanges>;

/// The parts of a layer that a CUDA graph may replay (Megatron-LM's --cuda-graph-scope).
enum class GraphScope : std::uint8_t {
    Layer,          ///< the whole layer
    Attention,      ///< the attention with its norm and residual
    Mlp,            ///< a dense MLP
    Mamba,          ///< a recurrent mixer
    Moe,            ///< all of a mixture of experts; only where experts take a fixed number of rows
    MoeRouter,      ///< the router, with the shared experts
    MoePreprocess,  ///< the sorting before tokens are sent
};
inline constexpr std::size_t kGraphScopes = 7;

/// The scope of CUDA graphs.
struct CudaGraphs {
    bool full_iteration = false;  ///< all passes of a step; not the optimizer
    ArrayBy<GraphScope, bool, kGraphScopes> scopes{};

    bool has(GraphScope scope) const {
        return full_iteration || scopes[GraphScope::Layer] || scopes[scope];
    }
    friend bool operator==(const CudaGraphs&, const CudaGraphs&) = default;
};

struct Framework {
    std::string name;
    std::string source;
    /// The TFLOP/s that it prints count half of causal attention, as Megatron-LM's
    /// num_floating_point_operations does since 2025; else all of it. Read only where a measured
    /// step states nothing else.
    bool counts_causal_half = false;
    /// Determines release-dependent kernels: cuDNN's, and fused_experts.
    std::string release;  ///< the software that ran, as its source names it: "nemo 25.04"
    /// The schedules that the software has, by name; unset: every one.
    std::optional<std::vector<std::string>> schedules;
    models::KernelOptions kernels;
    FusedExperts fused_experts = FusedExperts::Never;
    bool unfused_attention = false;  ///< scores are written out, unless the training says otherwise
    // communication
    bool overlap_tensor_backward = true;  ///< TP collectives of the backward run during
                                          ///< weight-gradient GEMMs
    /// GEMMs and their tensor-parallel collectives are split into chunks and overlapped, also in
    /// the forward (Megatron-LM's --tp-comm-overlap, PyTorch's async tensor parallelism).
    bool tensor_overlap = false;
    /// Tensor parallelism gathers and reduces along the sequence of tensors whose first dimension
    /// is the batch: a copy of the whole reorders the chunks, unless tensor_overlap places them
    /// (all_gather_tensor and reduce_scatter_tensor in
    /// torch/distributed/_functional_collectives.py).
    bool copies_along_sequence = false;
    bool overlap_grad_reduce = false;  ///< DP buckets reduced during the last backward
    bool reduces_by_layer = false;     ///< each layer is a bucket, and the embeddings are one
    bool overlap_param_gather = false;
    GradReduction grad_reduction = GradReduction::Bucket;
    Gather gather = Gather::Unit;
    /// The communication of each half of an Overlap that the other half's kernels hide.
    Exchanges pair_hides{};
    PointToPoint point_to_point = PointToPoint::ScatterGather;
    MessagesBlock point_to_point_blocks = MessagesBlock::Never;
    /// Of messages between stages; unset: PyTorch's, by the release.
    std::optional<Transport> transport = Transport::Own;
    Bytes grad_bucket{40'000'000L * 4};  ///< bytes of gradients reduced at once, when overlapped
    /// The type of gradients in reductions over replicas; if unset, Parallel::communication_dtype
    /// or the type that they have.
    std::optional<models::DataType> grad_reduce_dtype;
    /// Sharded parameters are fp32 and are cast for every gather; gathers and reductions go through
    /// buffers of their own (PyTorch's FSDP).
    bool casts_shards = false;
    /// Buffers of gathers and shards of gradients are allocated on the streams of their
    /// collectives, whose memory tensors of other streams do not take up again: the allocator
    /// reserves them in addition (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, pytorch
    /// 010ae4a).
    bool collective_memory = false;
    /// A stage has buffers to receive the messages of all microbatches from the start, and keeps
    /// what it sent forward until the microbatch's backward
    /// (torch/distributed/pipelining/stage.py).
    bool keeps_messages = false;
    /// In a pipeline, gradients of sharded stages are summed whole, and reduced after the last
    /// microbatch (PyTorch's set_requires_gradient_sync).
    bool sums_whole_gradients = false;
    /// Limits of ZeRO-3's prefetching and caching; without any limit it prefetches one layer.
    Stage3Limits stage3;
    /// The streaming multiprocessors that a gather or reduction over replicas occupies while it
    /// overlaps kernels.
    int collective_sms = 0;
    /// The expert capacity relative to a perfectly balanced router: tokens over it are dropped
    /// (Megatron-LM's --moe-expert-capacity-factor).
    std::optional<double> capacity_factor;
    // The host's time: a soft floor under a pass, (gpu^4 + host^4)^(1/4).
    Duration host_module{};  ///< for each operator of a forward, in Python
    Duration host_kernel{};  ///< for each kernel of any pass
    Duration host_expert{};  ///< to launch one expert's part of a grouped GEMM
    /// Host time for a pair of passes whose layers overlap, relative to both passes separately.
    double host_pair = 1;
    Duration host_micro_batch{};
    CudaGraphs cuda_graphs;
    // optimizer
    OptimizerKind optimizer = OptimizerKind::FusedAdam;
    /// Device memory traffic of one step; if unset, that of the optimizer's kind
    /// (bytes_per_step).
    std::optional<double> optimizer_bytes_per_parameter;
    Duration optimizer_fixed{};  ///< added for each step
    /// The buffer on the GPU through which an offloaded state passes while the GPU steps it. With 0
    /// the node's processors step it, and gradients and parameters are copied (ZeRO-Offload).
    Bytes offload_buffer{};
    bool post_validation = false;  ///< the optimizer of the zero-bubble family
    /// The values that a post-validated step may have to undo are copied before it; otherwise
    /// arithmetic undoes it (zero-bubble's rollback in place).
    bool rollback_copies = false;
    /// The default recomputation (torchtitan's shipped configurations).
    std::optional<models::Recompute> recompute;
    // memory
    AllocatorModel allocator = AllocatorModel::PyTorchCaching;
    Bytes library_workspace;  ///< cuBLAS, TransformerEngine: held throughout
    /// The part of a GPU's memory that its allocator never gets: context, kernels' code, NCCL's
    /// buffers.
    Bytes headroom;
    bool main_grad_buffer = true;  ///< one flat fp32 gradient buffer for the whole run
    bool ddp_buckets = false;      ///< PyTorch DDP keeps another copy of the gradients
    /// Training in bf16 has DeepSpeed's BF16_Optimizer where DeepSpeed chooses it.
    bool bf16_optimizer = false;
    friend bool operator==(const Framework&, const Framework&) = default;

    /// Bytes of a parameter's step with Adam on fp32 state.
    double bytes_per_step() const {
        if (optimizer_bytes_per_parameter) return *optimizer_bytes_per_parameter;
        const models::Laws& laws = models::laws();
        switch (optimizer) {
            case OptimizerKind::FusedAdam: return laws.fused_adam_bytes;
            case OptimizerKind::ForeachAdam: return laws.foreach_adam_bytes;
            case OptimizerKind::PerTensorAdam: return laws.per_tensor_adam_bytes;
        }
        return laws.fused_adam_bytes;
    }
};

}  // namespace debubble::scenarios
