#pragma once

#include <cstdint>
#include <optional>

#include "models/execution/low_precision.h"

/// The kernels that a framework has for the operators of a network, as far as they affect
/// computation, saved tensors and communication inside a pass.
namespace debubble::models {

/// The cross-entropy implementations, with the bytes held at their peak, per token and vocabulary
/// entry of the rank.
enum class LossKernel : std::uint8_t {
    Unfused,            ///< Megatron vocab-parallel, 6 bytes
    MegatronFused,      ///< Megatron "native" fused, 10 bytes
    TransformerEngine,  ///< gradient in place, 2 bytes
    EagerPyTorch,       ///< four copies, 8 bytes
    EagerFp32,  ///< the same after a cast to fp32, 12 bytes; 16 where ranks cut the vocabulary
    Compiled,   ///< one fused kernel each way: logits and their gradient, 4 bytes
    Chunked,    ///< by chunks of tokens, gradient in place: the logits never exist as a
                ///< whole
};

/// The way in which a context-parallel rank gets the keys and values of the others (Megatron-LM's
/// --cp-comm-type).
enum class ContextCommunication : std::uint8_t {
    P2p,        ///< passed around the group, two chunks held at a time (ring attention)
    AllGather,  ///< all are gathered and brought into the order of the sequence (Llama 3)
    AllToAll,   ///< all-to-all between tokens and heads: each rank has whole sequences (Ulysses)
    /// All-to-all between neighbours, and keys and values are passed around their groups
    /// (Megatron-LM's a2a+p2p with --hierarchical-context-parallel-sizes; USP, Fang and Zhao 2024,
    /// arXiv:2405.07719).
    TwoLevel,
};

/// The way in which tokens get to the ranks of their experts (Megatron-LM's
/// --moe-token-dispatcher-type and --moe-flex-dispatcher-backend).
enum class Dispatcher : std::uint8_t {
    AllToAll,   ///< a copy for every expert of a token, sent by the library's all-to-all
    AllGather,  ///< every rank gets all tokens, and their results are summed back
    DeepEp,     ///< a token crosses to each node once and to each of its ranks once (DeepEP)
    HybridEp,   ///< the same with the sorting inside its kernels (DeepEP's hybrid-ep branch)
};

/// The kernels of fused attention, which never write the scores out.
enum class FusedAttention : std::uint8_t {
    Cudnn,
    Cudnn2024,      ///< cuDNN 9.1, of 2024
    Flash1,         ///< FlashAttention (Dao et al. 2022, arXiv:2205.14135)
    Flash2,         ///< FlashAttention-2 (Dao 2023, arXiv:2307.08691)
    Flash3,         ///< FlashAttention-3 (Shah et al. 2024, arXiv:2407.08608)
    SdpaEfficient,  ///< PyTorch's memory-efficient one, of xformers
    Triton,         ///< in Triton, as in llm-foundry's `attn_impl: triton`
    ChosenKeys,     ///< one key of all heads, gathered for each query (FlashMLA, cuDNN's DSA)
};

/// The options of a framework's kernels. The keys of a framework profile have the fields' names.
struct KernelOptions {
    bool gradient_accumulation_fusion = true;  ///< the weight-gradient GEMM adds into the main
                                               ///< gradients
    bool fused_bias_activation = true;
    bool fused_bias_dropout_add = true;
    bool fused_rope = true;
    bool fused_norm = true;
    bool dropout_masks_always = false;  ///< masks are kept even at p = 0 (older containers)
    bool replayed_dropout = false;      ///< masks are made again from their random numbers
    /// The gradients of embedding tables are made as tensors of their own, then added.
    bool embedding_gradient_tensor = true;
    /// A nonlinearity that is not gated overwrites its output's gradient with its input's.
    bool activation_gradient_in_place = false;
    /// Flash attention's backward sums dq in fp32, in a tensor in addition to the one in the
    /// compute type.
    bool fp32_query_gradient = true;
    bool attention_mask_tensor = false;  ///< the data loader makes a b s^2 byte mask
    /// As in plain PyTorch, values stay a view that keeps the packed product alive, and the context
    /// is copied before its projection.
    bool attention_copies = false;
    /// Attention reads queries, keys and values inside the packed product, and their gradients are
    /// written there, if nothing rotates, gathers or keeps them in between.
    bool packed_attention = false;
    /// As in PyTorch's DTensor plans, the input that sequence parallelism gathered is kept for the
    /// weight gradient instead of gathered again.
    bool keeps_gathered = false;
    /// Each weight of what Megatron-LM makes one product (q, k, v; gate, up) has a product of its
    /// own, whose input's gradients are added up.
    bool separate_products = false;
    /// A checkpoint per operator keeps every product that it does not run again, whether or not the
    /// backward reads it, as PyTorch's eager one does; a compiled layer keeps what is read.
    bool keeps_unread_products = true;
    /// The kernel of fused attention; if unset, TransformerEngine's choice for the GPU: cuDNN's
    /// from Hopper on, FlashAttention-2 before.
    std::optional<FusedAttention> attention_kernel;
    /// Products in 8 and 4 bits are torchao's, which keeps inputs in the compute type and casts
    /// weights for every microbatch, instead of TransformerEngine's.
    bool casts_anew = false;
    /// The time of the kernels of a recurrence relative to products by the best library and to
    /// copies at the rate of an average elementwise kernel.
    double recurrence_pace = 1;
    ContextCommunication context_communication = ContextCommunication::P2p;
    Dispatcher dispatcher = Dispatcher::AllToAll;
    /// The types in which tokens are dispatched to experts, and in the backward the gradients of
    /// the experts' outputs; unset: the compute type. Both combines are always in the compute type
    /// (DeepSeek-V3, arXiv:2412.19437, 3.3.3; Megatron-LM's --moe-dispatch-fwd-dtype and
    /// --moe-combine-bwd-dtype).
    Narrow moe_dispatch_fwd_dtype = Narrow::None;
    Narrow moe_combine_bwd_dtype = Narrow::None;
    /// Flash attention of padded batches: queries, keys and values are gathered out of the packed
    /// product and the context is put back (llm-foundry's flash_attn_varlen_func).
    bool gathers_unpadded = false;
    /// All-to-all context parallelism keeps the attention output before and after its all-to-all
    /// (TransformerEngine >= 2.8) instead of repeating it in the backward.
    bool context_output_copy = false;
    /// The router's weights are applied inside the experts' activation, so that the rows that come
    /// back are not kept for them (Megatron-Core >= 0.12).
    bool weighted_experts_activation = false;
    /// PyTorch's eager kernels add the biases of experts' outputs, times the router's weights, and
    /// clamp the inputs of gated nonlinearities (TEGroupedMLP._apply_bias in
    /// megatron/core/transformer/moe/experts.py, weighted_bias_quick_geglu_impl in
    /// megatron/core/fusions/fused_bias_geglu.py).
    bool eager_experts = false;
    /// The time of PyTorch's eager kernels relative to an average elementwise kernel for as many
    /// bytes: their operands differ in type and are broadcast.
    double eager_pace = 1;
    /// PyTorch's eager kernels permute tokens for the all-to-all and sum the results (`permute` and
    /// `unpermute` of Megatron-LM, megatron/core/transformer/moe/moe_utils.py, without
    /// --moe-permute-fusion), where the dispatcher does not do it itself.
    bool eager_permutation = false;
    /// Shared experts overlap the experts' all-to-all: the first GEMM the dispatch, the second the
    /// combine (Megatron-LM's --moe-shared-expert-overlap).
    bool shared_expert_overlap = false;
    /// One kernel is the experts' first product, their nonlinearity and the cast of its result to
    /// MXFP8, and one the second product's backward with the nonlinearity's and the cast of what
    /// that makes (TransformerEngine's grouped MLP in CuTe DSL,
    /// transformer_engine/pytorch/ops/fused/forward_grouped_mlp.py).
    bool fused_experts = false;
    bool dummy_weight_gradients = false;  ///< TE >= 2.3 with gradient accumulation fusion
    LossKernel loss = LossKernel::Unfused;
    int vocabulary_multiple = 128;  ///< vocabulary is padded to a multiple of this times `tensor`;
                                    ///< 1 = not padded
    friend bool operator==(const KernelOptions&, const KernelOptions&) = default;
};

}  // namespace debubble::models
