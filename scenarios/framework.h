#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/units.h"
#include "models/kernel_options.h"

/// The behaviour of a training framework, apart from model and machine. Shipped profiles are YAML
/// in scenarios/frameworks/; a scenario overrides any key.
namespace debubble::scenarios {

enum class OptimizerKind { FusedAdam, ForeachAdam, PerTensorAdam };
enum class PointToPoint { Full, ScatterGather };  ///< the whole tensor, or 1/t of it over each NIC
enum class AllocatorModel { Exact, PyTorchCaching, Arena };

/// The communication inside a pass, by kinds that a pair of passes may hide.
enum class Exchange : std::uint8_t {
    ExpertAllToAll,     ///< tokens to their experts, and back
    Tensor,             ///< of tensor and sequence parallelism, and of experts that are cut
    Context,            ///< of keys and values, or of heads
    ShardedParameters,  ///< gathered and reduced layer by layer (ZeRO-3)
};
inline constexpr std::size_t kExchanges = 4;
using Exchanges = std::array<bool, kExchanges>;  ///< indexed by Exchange

struct Framework {
    std::string name;
    std::string source;
    models::KernelOptions kernels;
    // communication
    bool overlap_tensor_backward = true;  ///< TP collectives of the backward run during
                                          ///< weight-gradient GEMMs
    bool overlap_grad_reduce = false;     ///< DP buckets reduced during the last backward
    bool reduces_by_layer = false;        ///< a bucket is a layer, and the embeddings are one piece
    bool overlap_param_gather = false;
    /// The exchanges of either half of an Overlap that run during the other half's kernels.
    Exchanges pair_hides{};
    PointToPoint point_to_point = PointToPoint::ScatterGather;
    bool point_to_point_blocks = false;  ///< the sender waits for its send
    Bytes grad_bucket{40'000'000L * 4};  ///< bytes of gradients reduced at once, when overlapped
    // The host's time: a soft floor under a pass, (gpu^4 + host^4)^(1/4).
    Duration host_forward_layer{};
    Duration host_backward_layer{};
    Duration host_recompute_layer{};
    Duration host_tensor_collective{};
    Duration host_micro_batch{};
    // optimizer
    OptimizerKind optimizer = OptimizerKind::FusedAdam;
    double optimizer_bytes_per_parameter = 50;  ///< device memory traffic of one step
    Duration optimizer_fixed{};                 ///< added for each step
    /// The buffer on the GPU through which an offloaded state passes while the GPU steps it. With 0
    /// the node's processors step it, and gradients and parameters are copied (ZeRO-Offload).
    Bytes offload_buffer{};
    bool post_validation = false;  ///< the optimizer of the zero-bubble family
    /// The values that a post-validated step may have to undo are copied before it; otherwise
    /// arithmetic undoes it (zero-bubble's rollback in place).
    bool rollback_copies = false;
    // memory
    AllocatorModel allocator = AllocatorModel::PyTorchCaching;
    Bytes library_workspace;  ///< cuBLAS, TransformerEngine: held throughout
    /// The part of a GPU's memory that its allocator never gets: context, kernels' code, NCCL's
    /// buffers.
    Bytes headroom;
    bool main_grad_buffer = true;  ///< one flat fp32 gradient buffer for the whole run
    bool ddp_buckets = false;      ///< PyTorch DDP keeps another copy of the gradients
    friend bool operator==(const Framework&, const Framework&) = default;
};

}  // namespace debubble::scenarios
