#include <optional>

#include "scenarios/software/fields.h"
#include "scenarios/software/words.h"

/// The keys of a framework's kernels.
namespace debubble::scenarios {
namespace {

using text::custom;
using text::flag;
using text::Form;
using text::MappingReader;
using text::names_of;
using text::real;
using text::whole;
using text::word;

/// The place of a member of the kernels' options.
auto in_kernels(auto member) {
    return [member](Framework& f) -> decltype(auto) { return (f.kernels.*member); };
}

void read_attention_kernel(MappingReader& in, std::string_view key, Framework& f) {
    std::optional<models::FusedAttention> kernel;
    if (!in.word(key, kernel, kFusedAttentions)) return;
    f.unfused_attention = !kernel;
    f.kernels.attention_kernel = kernel;
}

/// Reads true, false or by-release.
void read_fused_experts(MappingReader& in, std::string_view key, Framework& f) {
    const text::NodePtr value = in.value(key);
    if (!value) return;
    if (value->scalar == kByRelease) {
        f.fused_experts = FusedExperts::ByRelease;
        return;
    }
    bool fused = false;
    in.flag(key, fused);
    f.fused_experts = fused ? FusedExperts::Always : FusedExperts::Never;
}

}  // namespace

text::Fields<Framework> kernel_fields() {
    using K = models::KernelOptions;
    const auto on = [](bool K::*member) { return flag(in_kernels(member)); };
    return {
        {"gradient_accumulation_fusion", on(&K::gradient_accumulation_fusion),
         "Weight-gradient GEMMs accumulate into the main gradients.", "false"},
        {"fused_bias_activation", on(&K::fused_bias_activation),
         "Bias and activation of the MLP are one kernel.", "false"},
        {"fused_bias_dropout_add", on(&K::fused_bias_dropout_add),
         "Bias, dropout and residual are one kernel.", "false"},
        {"fused_rope", on(&K::fused_rope), "RoPE is one kernel.", "false"},
        {"fused_norm", on(&K::fused_norm), "A norm is one kernel.", "false"},
        {"dropout_masks_always", on(&K::dropout_masks_always),
         "Dropout masks are kept even with a probability of 0 (older containers).", "true"},
        {"replayed_dropout", on(&K::replayed_dropout),
         "Dropout masks are regenerated from the RNG state instead of kept.", "true"},
        {"embedding_gradient_tensor", on(&K::embedding_gradient_tensor),
         "Embedding gradients are separate tensors that are then accumulated.", "false"},
        {"activation_gradient_in_place", on(&K::activation_gradient_in_place),
         "An ungated activation overwrites the gradient of its output with that of its input.",
         "true"},
        {"fp32_query_gradient", on(&K::fp32_query_gradient),
         "The backward of flash attention accumulates dq in a separate fp32 tensor.", "false"},
        {"attention_mask_tensor", on(&K::attention_mask_tensor),
         "The data loader creates an attention mask of one byte per pair of tokens.", "true"},
        {"attention_kernel",
         custom(read_attention_kernel, {Form{text::WordForm{names_of(kFusedAttentions)}}}),
         "The fused attention kernel, which determines its rate (gpu.attention_rates); unfused: "
         "the default of training.attention.",
         "flash-2", "cudnn on GPUs with fp8 units, flash-2 on others, as TransformerEngine"},
        {"casts_anew", on(&K::casts_anew),
         "8-bit GEMMs keep their inputs in bf16 and cast weights for every microbatch (torchao); "
         "otherwise casts are kept (TransformerEngine).",
         "true"},
        {"keeps_unread_products", on(&K::keeps_unread_products),
         "Selective recomputation by operator keeps the output of every GEMM it does not "
         "recompute, even if the backward does not read it (eager PyTorch); a compiled layer keeps "
         "only those that are read.",
         "false"},
        {"attention_copies", on(&K::attention_copies),
         "Values stay a view of the packed QKV tensor, and the attention output is copied (plain "
         "PyTorch).",
         "true"},
        {"packed_attention", on(&K::packed_attention),
         "Attention reads and writes queries, keys and values inside the packed QKV tensor.",
         "true"},
        {"keeps_gathered", on(&K::keeps_gathered),
         "The input gathered by sequence parallelism is kept for the weight gradient.", "true"},
        {"separate_products", on(&K::separate_products),
         "The weights of q, k and v, and of gate and up, have separate GEMMs, whose input "
         "gradients are added (PyTorch's models).",
         "true"},
        {"recurrence_pace", real(in_kernels(&K::recurrence_pace), 0.01, 100, "ratio"),
         "The slowdown of recurrence kernels relative to cuBLAS GEMMs and to copies.", "2"},
        {"context_communication",
         word(in_kernels(&K::context_communication), kContextCommunications),
         "How context-parallel ranks share keys and values (Megatron's --cp-comm-type).",
         "all-gather"},
        {"dispatcher", word(in_kernels(&K::dispatcher), kDispatchers),
         "The token dispatcher of experts (Megatron's --moe-token-dispatcher-type and "
         "--moe-flex-dispatcher-backend).",
         "deepep"},
        {"moe_dispatch_fwd_dtype", word(in_kernels(&K::moe_dispatch_fwd_dtype), kRowTypes),
         "The type in which tokens are dispatched to experts: fp8 with an fp32 scale per 128 "
         "values (DeepEP, DeepSeek-V3), mxfp8 with an 8-bit scale per 32 (Megatron's "
         "--moe-dispatch-fwd-dtype); bf16: the compute type.",
         "fp8"},
        {"moe_combine_bwd_dtype", word(in_kernels(&K::moe_combine_bwd_dtype), kRowTypes),
         "The type in which the backward sends the gradients of the experts' outputs to the "
         "experts (Megatron's --moe-combine-bwd-dtype).",
         "fp8"},
        {"gathers_unpadded", on(&K::gathers_unpadded),
         "Queries, keys and values are unpadded for attention, and its output is padded again "
         "(llm-foundry).",
         "true"},
        {"context_output_copy", on(&K::context_output_copy),
         "All-to-all context parallelism keeps the attention output both before and after its "
         "all-to-all.",
         "true"},
        {"moe_shared_expert_overlap", on(&K::shared_expert_overlap),
         "Shared experts overlap the all-to-all of the routed experts (Megatron-LM's "
         "--moe-shared-expert-overlap).",
         "true"},
        {"weighted_experts_activation", on(&K::weighted_experts_activation),
         "Routing weights are applied inside the experts' activation.", "true"},
        {"eager_experts", on(&K::eager_experts),
         "Biases of experts' outputs and clamps of their inputs are eager PyTorch kernels "
         "(Megatron-Core's TEGroupedMLP).",
         "true"},
        {"fused_experts",
         custom(read_fused_experts,
                {Form{text::FlagForm{}}, Form{text::WordForm{{std::string(kByRelease)}}}}),
         "The experts' first GEMM, the activation and the cast to MXFP8 are one kernel, likewise "
         "in the backward (TransformerEngine's grouped MLP in CuTe DSL); by-release: from 26.06 "
         "on, where the recipe is mxfp8 and the GPU has 4-bit units.",
         "by-release", "false"},
        {"eager_permutation", on(&K::eager_permutation),
         "Tokens are permuted before the all-to-all and unpermuted after it by eager PyTorch "
         "kernels (Megatron-LM without --moe-permute-fusion).",
         "true"},
        {"eager_pace", real(in_kernels(&K::eager_pace), 0.01, 100, "ratio"),
         "The slowdown of the kernels of eager_experts relative to average elementwise kernels.",
         "1.3"},
        {"dummy_weight_gradients", on(&K::dummy_weight_gradients),
         "An unused weight gradient is allocated (TransformerEngine since 2.3).", "true"},
        {"loss", word(in_kernels(&K::loss), kLosses),
         "The cross-entropy implementation, which determines its peak memory.", "chunked"},
        {"vocabulary_multiple", whole(in_kernels(&K::vocabulary_multiple), 1, 1 << 20, "tokens"),
         "The vocabulary is padded to a multiple of this times tensor; 1: no padding.", "128"}};
}

}  // namespace debubble::scenarios
