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

/// Reads true, false, or that the release decides.
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
         "The product that makes a weight's gradient adds it to the main gradients.", "false"},
        {"fused_bias_activation", on(&K::fused_bias_activation),
         "The bias and the activation of the MLP are one kernel.", "false"},
        {"fused_bias_dropout_add", on(&K::fused_bias_dropout_add),
         "Bias, dropout and residual are one kernel.", "false"},
        {"fused_rope", on(&K::fused_rope), "Rotary positions are one kernel.", "false"},
        {"fused_norm", on(&K::fused_norm), "A norm is one kernel.", "false"},
        {"dropout_masks_always", on(&K::dropout_masks_always),
         "Dropout masks are kept even where nothing is dropped (older containers).", "true"},
        {"replayed_dropout", on(&K::replayed_dropout),
         "Dropout masks are made again from their random numbers instead of kept.", "true"},
        {"embedding_gradient_tensor", on(&K::embedding_gradient_tensor),
         "The gradients of embedding tables are tensors of their own, then added.", "false"},
        {"activation_gradient_in_place", on(&K::activation_gradient_in_place),
         "A nonlinearity that is not gated overwrites its output's gradient with its input's.",
         "true"},
        {"fp32_query_gradient", on(&K::fp32_query_gradient),
         "Flash attention's backward sums the queries' gradient in an fp32 tensor of its own.",
         "false"},
        {"attention_mask_tensor", on(&K::attention_mask_tensor),
         "The data loader makes a mask of a byte per pair of tokens.", "true"},
        {"attention_kernel",
         custom(read_attention_kernel, {Form{text::WordForm{names_of(kFusedAttentions)}}}),
         "The kernel of fused attention, which decides its rate (gpu.attention_rates); unfused: "
         "what training.attention is if it is not given.",
         "flash-2", "cudnn on GPUs with fp8 units, flash-2 on others, as TransformerEngine"},
        {"casts_anew", on(&K::casts_anew),
         "Products in 8 bits keep their inputs in bf16 and cast weights for every microbatch "
         "(torchao); otherwise casts are kept (TransformerEngine).",
         "true"},
        {"keeps_unread_products", on(&K::keeps_unread_products),
         "Recomputation by operator keeps each product that it does not run again, whether or not "
         "the backward reads it (eager PyTorch); a compiled layer keeps what is read.",
         "false"},
        {"attention_copies", on(&K::attention_copies),
         "Values stay a view of the packed product, and the context is copied (plain PyTorch).",
         "true"},
        {"packed_attention", on(&K::packed_attention),
         "Attention reads and writes queries, keys and values inside the packed product.", "true"},
        {"keeps_gathered", on(&K::keeps_gathered),
         "The input that sequence parallelism gathered is kept for the weight's gradient.", "true"},
        {"separate_products", on(&K::separate_products),
         "Each weight of q, k and v, or of gate and up, has a product of its own, whose input's "
         "gradients are added up (PyTorch's models).",
         "true"},
        {"recurrence_pace", real(in_kernels(&K::recurrence_pace), 0.01, 100, "ratio"),
         "The time of the kernels of a recurrence relative to products by cuBLAS and to copies.",
         "2"},
        {"context_communication",
         word(in_kernels(&K::context_communication), kContextCommunications),
         "How a context-parallel rank gets the keys and values of the others "
         "(Megatron's --cp-comm-type).",
         "all-gather"},
        {"dispatcher", word(in_kernels(&K::dispatcher), kDispatchers),
         "How tokens get to the ranks of their experts (Megatron's --moe-token-dispatcher-type and "
         "--moe-flex-dispatcher-backend).",
         "deepep"},
        {"moe_dispatch_fwd_dtype", word(in_kernels(&K::moe_dispatch_fwd_dtype), kRowTypes),
         "The type in which rows travel to their experts: fp8 with a scale of fp32 for 128 values "
         "(DeepEP, DeepSeek-V3), mxfp8 with one of 8 bits for 32 (Megatron's "
         "--moe-dispatch-fwd-dtype); bf16 is the compute type.",
         "fp8"},
        {"moe_combine_bwd_dtype", word(in_kernels(&K::moe_combine_bwd_dtype), kRowTypes),
         "The type in which the backward sends the gradients of experts' results to the experts "
         "(Megatron's --moe-combine-bwd-dtype).",
         "fp8"},
        {"gathers_unpadded", on(&K::gathers_unpadded),
         "Queries, keys and values are gathered for attention without padding, and the context is "
         "put back (llm-foundry).",
         "true"},
        {"context_output_copy", on(&K::context_output_copy),
         "All-to-all keeps attention's output before and after its exchange.", "true"},
        {"moe_shared_expert_overlap", on(&K::shared_expert_overlap),
         "Shared experts are computed while rows travel to the experts and back (Megatron-LM's "
         "--moe-shared-expert-overlap).",
         "true"},
        {"weighted_experts_activation", on(&K::weighted_experts_activation),
         "The router's weights are applied inside the experts' activation.", "true"},
        {"eager_experts", on(&K::eager_experts),
         "Biases of experts' outputs and clamps of their inputs are PyTorch's eager kernels "
         "(Megatron-Core's TEGroupedMLP).",
         "true"},
        {"fused_experts",
         custom(read_fused_experts,
                {Form{text::FlagForm{}}, Form{text::WordForm{{std::string(kByRelease)}}}}),
         "One kernel is the experts' first product with its activation and the cast to MXFP8, and "
         "another the same in the backward (TransformerEngine's grouped MLP in CuTe DSL); "
         "by-release: from 26.06 on, where the recipe is mxfp8 and the GPU has 4-bit units.",
         "by-release", "false"},
        {"eager_permutation", on(&K::eager_permutation),
         "Rows are sorted for the exchange, and summed after it, by PyTorch's eager kernels "
         "(Megatron-LM without --moe-permute-fusion).",
         "true"},
        {"eager_pace", real(in_kernels(&K::eager_pace), 0.01, 100, "ratio"),
         "The time of the kernels of eager_experts relative to that of average elementwise "
         "kernels.",
         "1.3"},
        {"dummy_weight_gradients", on(&K::dummy_weight_gradients),
         "A weight gradient that nobody reads is allocated (TransformerEngine since 2.3).", "true"},
        {"loss", word(in_kernels(&K::loss), kLosses),
         "The implementation of the cross-entropy, which decides what it holds at its peak.",
         "chunked"},
        {"vocabulary_multiple", whole(in_kernels(&K::vocabulary_multiple), 1, 1 << 20, "tokens"),
         "The vocabulary is padded to a multiple of this times tensor; 1: it is not padded.",
         "128"}};
}

}  // namespace debubble::scenarios
