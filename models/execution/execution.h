#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/execution/kernel_options.h"
#include "models/execution/low_precision.h"
#include "models/execution/module.h"

/// The way in which one rank runs the network: everything apart from the architecture that decides
/// kernels, saved tensors and communication inside a pass.
namespace debubble::models {

/// Fp8 is a type of the optimizer's moments only; LowPrecision has those of products.
enum class DataType : std::uint8_t { Fp32, Fp16, Bf16, Fp8 };
constexpr std::int64_t size_of(DataType type) {
    if (type == DataType::Fp8) return 1;
    return type == DataType::Fp32 ? 4 : 2;
}

/// The word of scenarios: "bf16".
constexpr std::string_view name_of(DataType type) {
    switch (type) {
        case DataType::Fp32: return "fp32";
        case DataType::Fp16: return "fp16";
        case DataType::Bf16: return "bf16";
        case DataType::Fp8: return "fp8";
    }
    return "";
}

/// What the backward recomputes: nothing, core attention, whole layers, selected modules, or every
/// second GEMM and cheap operators (replays.h).
enum class Recompute : std::uint8_t { None, Selective, Full, Modules, Products };

/// The extent of Full and Modules (Megatron-LM's recompute_modules, recompute_num_layers and
/// recompute_method).
struct RecomputeExtent {
    Modules modules;                 ///< of Modules
    std::optional<int> layers = {};  ///< block: the first layers of every stage; unset: all
    int together = 1;  ///< uniform: of so many layers in a row, the input of the first is kept
    friend bool operator==(const RecomputeExtent&, const RecomputeExtent&) = default;

    /// True for the layer that has so many before it in its stage.
    bool reaches(int layers_before) const { return !layers || layers_before < *layers; }
};

/// Saved tensors that are offloaded to host memory after the forward and fetched back before the
/// backward.
struct OffloadExtent {
    Modules modules;          ///< those whose inputs go (Megatron-Core's fine-grained offloading)
    bool everything = false;  ///< all that a layer saves goes (TransformerEngine's cpu_offloading)
    std::optional<int> layers = {};          ///< the first layers of every stage; unset: all
    std::int64_t fewest_elements = 1 << 20;  ///< tensors with fewer stay on the device
    friend bool operator==(const OffloadExtent&, const OffloadExtent&) = default;

    bool any() const { return everything || !modules.empty(); }
    bool reaches(int layers_before) const { return any() && (!layers || layers_before < *layers); }
};

/// Low-rank adapters with frozen weights (LoRA, Hu et al. 2021, arXiv:2106.09685).
struct Lora {
    std::int64_t rank = 0;  ///< columns of an adapter, at least 1 once read
    bool qkv = true;
    bool projection = false;
    bool fc1 = false;
    bool fc2 = false;
    friend bool operator==(const Lora&, const Lora&) = default;
};
enum class AttentionKernel : std::uint8_t { Flash, Unfused };

/// The terms that routers of experts add to the loss.
struct RouterTerms {
    bool balance = false;      ///< counts the tokens of each expert in a microbatch
    bool by_sequence = false;  ///< in each sequence instead
    /// In the microbatches of all replicas instead, the mean over those of the step so far.
    bool by_step = false;
    bool z = false;
    friend bool operator==(const RouterTerms&, const RouterTerms&) = default;

    bool any() const { return balance || z; }
};

/// The sizes, parallel degrees and options of one pass. The sequence is cut by `slices` in time
/// (Seq1F1B) and by `context` in space.
struct Execution {
    std::int64_t micro_batch = 1;  ///< in samples
    std::int64_t seq_length = 1;   ///< tokens per sample
    int slices = 1;
    int slice = 0;  ///< the slice of the pass: its queries see this and the earlier slices
    int tensor = 1;
    int context = 1;
    /// The ranks of the inner, all-to-all level where context parallelism has two levels; divides
    /// `context`.
    int context_inner = 1;
    bool sequence_parallel = false;
    int expert = 1;         ///< ranks that share a layer's experts (EP)
    int expert_tensor = 1;  ///< ranks that cut each expert (ETP)
    int expert_rank = 0;    ///< the one of `expert` ranks whose experts the stage's parameters are
    /// Tokens at the experts of the most loaded rank, relative to the mean: 1 for a perfectly
    /// balanced router.
    double expert_load = 1;
    /// Tokens that an expert takes of each rank, relative to an even share: it drops those with the
    /// smallest weights beyond (Megatron-Core's --moe-expert-capacity-factor with the policy
    /// "probs"); unset: none is dropped.
    std::optional<double> expert_capacity = {};
    RouterTerms router_terms;
    DataType compute = DataType::Bf16;
    DataType gradients = DataType::Fp32;  ///< type of the main gradients that accumulate over
                                          ///< microbatches
    /// Weight gradients are computed in a pass of their own (I and W), so every product's output
    /// gradient is kept for it.
    bool split_backward = false;
    /// The weight gradients of a layer's products run after the rest of their part of the layer
    /// (Megatron-Core's delay_wgrad_compute).
    bool delays_weights = false;
    Recompute recompute = Recompute::None;
    RecomputeExtent recompute_extent;
    OffloadExtent offload;
    std::optional<Lora> lora = {};  ///< unset: every weight is trained
    AttentionKernel attention = AttentionKernel::Flash;
    LowPrecision low_precision;
    KernelOptions kernels;
    /// The chunks that sequence parallelism gathers or reduces are reordered by a copy of the
    /// whole, unless an overlap of communication and GEMMs places them.
    bool copies_along_sequence = false;
    bool places_pieces = false;   ///< communication and GEMMs overlap chunk by chunk
    bool hidden_dropout = false;  ///< dropout is applied in training
    bool attention_dropout = false;
    friend bool operator==(const Execution&, const Execution&) = default;

    /// Context-parallel ranks that use all-to-all, so that each has all tokens of its heads.
    int exchanging() const {
        switch (kernels.context_communication) {
            case ContextCommunication::P2p:
            case ContextCommunication::AllGather: return 1;
            case ContextCommunication::AllToAll: return context;
            case ContextCommunication::TwoLevel: return context_inner;
        }
        return 1;
    }
    /// Groups of such ranks, around which keys and values are passed or gathered.
    int sharing_keys() const { return context / exchanging(); }
    std::int64_t tokens() const { return micro_batch * seq_length / slices / context; }
    /// True if the tokens of each expert that routers balance are counted once for a microbatch,
    /// and not again where its forward is: other passes have a part of them.
    bool counts_tokens_once() const {
        return router_terms.balance && (slices > 1 || router_terms.by_step);
    }
};

}  // namespace debubble::models
