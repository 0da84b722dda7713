#pragma once

#include <cstdint>

/// How one rank carries the network out: everything beside the architecture
/// that decides kernels, saved tensors and communication inside a pass.
namespace debubble::models {

enum class DataType : std::uint8_t { Fp32, Fp16, Bf16 };
constexpr std::int64_t size_of(DataType type) {
    return type == DataType::Fp32 ? 4 : 2;
}

enum class Recompute : std::uint8_t { None, Selective, Full };
enum class AttentionKernel : std::uint8_t { Flash, Unfused };

/// The cross-entropy implementations: bytes held at its peak, per token and vocabulary
/// entry of the rank.
enum class LossKernel : std::uint8_t {
    Unfused,            ///< Megatron vocab-parallel, 6 bytes
    MegatronFused,      ///< Megatron "native" fused, 10 bytes
    TransformerEngine,  ///< gradient in place, 2 bytes
    EagerPyTorch,       ///< four copies, 8 bytes
    Chunked,            ///< chunks of tokens, gradient in place: logits never exist as a whole
};

/// How a context-parallel rank comes to the keys and values of the others (Megatron-LM's
/// --cp-comm-type).
enum class ContextCommunication : std::uint8_t {
    P2p,        ///< they travel round the group, two chunks held at a time (ring attention)
    AllGather,  ///< all are gathered and brought into the order of the sequence (Llama 3)
    AllToAll,   ///< tokens are exchanged for heads: each rank has whole sequences (Ulysses)
};

/// Sequence is cut by `slices` in time (Seq1F1B) and by `context` in space.
struct Execution {
    std::int64_t micro_batch = 1;  ///< samples
    std::int64_t seq_length = 1;   ///< tokens per sample
    int slices = 1;
    int slice = 0;  ///< the one that the pass works on: its queries see this and the earlier slices
    int tensor = 1;
    int context = 1;
    bool sequence_parallel = false;
    int expert = 1;         ///< ranks that share a layer's experts (EP)
    int expert_tensor = 1;  ///< ranks that cut each of them (ETP)
    /// Tokens at the fullest rank's experts over the mean: 1 if the router balances perfectly.
    double expert_load = 1;
    DataType compute = DataType::Bf16;
    DataType gradients = DataType::Fp32;  ///< main gradients that accumulate over microbatches
    /// Weight gradients are taken in a pass of their own (I and W), so the output gradient of
    /// every product waits for it.
    bool split_backward = false;
    Recompute recompute = Recompute::None;
    AttentionKernel attention = AttentionKernel::Flash;
    LossKernel loss = LossKernel::Unfused;
    int vocabulary_multiple = 128;             ///< padded to this times tensor; 1 = not padded
    bool gradient_accumulation_fusion = true;  ///< weight-gradient GEMM adds into main gradients
    bool fused_bias_activation = true;
    bool fused_bias_dropout_add = true;
    bool fused_rope = true;
    bool fused_norm = true;
    bool hidden_dropout = false;  ///< applied in training
    bool attention_dropout = false;
    bool dropout_masks_always = false;  ///< masks kept even at p = 0 (older containers)
    bool replayed_dropout = false;      ///< masks are made again from their random numbers
    /// The gradients of embedding tables are made as tensors of their own, then added.
    bool embedding_gradient_tensor = true;
    /// A nonlinearity that is not gated overwrites its output's gradient with its input's.
    bool activation_gradient_in_place = false;
    bool fp32_query_gradient = true;     ///< flash attention's backward sums dq in fp32, beside it
    bool attention_mask_tensor = false;  ///< the data loader makes a b s^2 byte mask
    /// Plain PyTorch: values stay a view that keeps the packed product alive, and the
    /// context is copied before its projection.
    bool attention_copies = false;
    /// Attention reads queries, keys and values where the packed product has them, and its
    /// gradients are written there, if nothing rotates, gathers or keeps them in between.
    bool packed_attention = false;
    /// PyTorch's DTensor plans: what sequence parallelism gathered is kept for the weight
    /// gradient instead of gathered again.
    bool keeps_gathered = false;
    ContextCommunication context_communication = ContextCommunication::P2p;
    /// All-to-all keeps attention's output before it is exchanged beside what it becomes
    /// (TransformerEngine >= 2.8), not exchanged once more in the backward.
    bool context_output_copy = false;
    /// The router's weights are applied inside the experts' activation, so that the rows that come
    /// back are not kept for them (Megatron-Core >= 0.12).
    bool weighted_experts_activation = false;
    bool dummy_weight_gradients = false;  ///< TE >= 2.3 with gradient accumulation fusion
    friend bool operator==(const Execution&, const Execution&) = default;

    std::int64_t tokens() const { return micro_batch * seq_length / slices / context; }
};

}  // namespace debubble::models
