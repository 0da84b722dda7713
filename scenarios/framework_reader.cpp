#include "scenarios/framework_reader.h"

#include <algorithm>

#include "scenarios/framework_words.h"
#include "text/fields.h"
#include "text/mapping_reader.h"

namespace debubble::scenarios {
namespace {

using text::bytes;
using text::custom;
using text::described;
using text::duration;
using text::Fields;
using text::flag;
using text::Form;
using text::free_text;
using text::MappingReader;
using text::names_of;
using text::read_fields;
using text::real;
using text::whole;
using text::word;

/// The place of a member of the kernels' options.
auto in_kernels(auto member) {
    return [member](Framework& f) -> decltype(auto) { return (f.kernels.*member); };
}

/// Reads a list of words; it replaces the list of the profile's base and does not add to it.
void read_pair_hides(MappingReader& in, std::string_view key, Framework& f) {
    std::vector<std::string> words;
    if (!in.texts(key, words)) return;
    const std::vector<std::string> known = names_of(kExchangeWords);
    for (const std::string& word : words) {
        const auto at = std::ranges::find(known, word);
        if (at == known.end())
            in.complain_unknown(key, "exchange", word, known);
        else
            f.pair_hides[static_cast<std::size_t>(kExchangeWords[at - known.begin()].second)] =
                true;
    }
}

/// Reads true, false, or the schedules whose messages are waited for.
void read_messages_block(MappingReader& in, std::string_view key, Framework& f) {
    const text::NodePtr value = in.value(key);
    if (!value) return;
    if (value->scalar == "without-chunks" || value->scalar == "whole-backward") {
        in.word(key, f.point_to_point_blocks, kMessagesBlock);
        return;
    }
    bool blocks = false;
    in.flag(key, blocks);
    f.point_to_point_blocks = blocks ? MessagesBlock::Always : MessagesBlock::Never;
}

/// Reads `none`, `full_iteration`, or the parts of a layer that are graphs.
void read_cuda_graphs(MappingReader& in, std::string_view key, Framework& f) {
    const text::NodePtr value = in.value(key);
    if (!value) return;
    CudaGraphs graphs;
    if (value->is(text::Node::Kind::Scalar)) {
        const std::vector<std::string> words{std::string(kNoGraphs), std::string(kAllGraphs)};
        if (std::ranges::find(words, value->scalar) == words.end())
            in.complain_unknown(key, "use of CUDA graphs", value->scalar, words);
        graphs.full_iteration = value->scalar == kAllGraphs;
        f.cuda_graphs = graphs;
        return;
    }
    std::vector<std::string> words;
    if (!in.texts(key, words)) return;
    const std::vector<std::string> known = names_of(kGraphScopeWords);
    for (const std::string& word : words) {
        const auto at = std::ranges::find(known, word);
        if (at == known.end())
            in.complain_unknown(key, "scope of CUDA graphs", word, known);
        else
            graphs.scopes[static_cast<std::size_t>(kGraphScopeWords[at - known.begin()].second)] =
                true;
    }
    const auto at = [&](GraphScope scope) {
        return graphs.scopes[static_cast<std::size_t>(scope)];
    };
    if (at(GraphScope::MoePreprocess) && !at(GraphScope::MoeRouter) && !at(GraphScope::Layer))
        in.complain(key, "'moe_preprocess' sorts by what the router chose: add 'moe_router'");
    f.cuda_graphs = graphs;
}

void read_attention_kernel(MappingReader& in, std::string_view key, Framework& f) {
    std::optional<models::FusedAttention> kernel;
    if (!in.word(key, kernel, kFusedAttentions)) return;
    f.unfused_attention = !kernel;
    f.kernels.attention_kernel = kernel;
}

void read_grad_bucket(MappingReader& in, std::string_view key, Framework& f) {
    if (in.bytes(key, f.grad_bucket) && f.grad_bucket < Bytes{1 << 10})
        in.complain(key, "'grad_bucket' must be at least 1 KiB");
}

void read_offload_buffer(MappingReader& in, std::string_view key, Framework& f) {
    if (in.bytes(key, f.offload_buffer) && f.offload_buffer.count != 0 &&
        f.offload_buffer < Bytes{16 << 10})
        in.complain(key, "'offload_buffer' must be 0 or at least 16 KiB");
}

/// A number of bytes with a further check.
text::Reading<Framework> checked_bytes(void (*read)(MappingReader&, std::string_view, Framework&),
                                       Bytes Framework::*place) {
    return {read,
            [](Framework&) { return std::vector{Form{text::QuantityForm{text::Quantity::Bytes}}}; },
            [place](Framework& fresh) { return text::shown(fresh.*place); }};
}

Fields<Framework> kernel_fields() {
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

Fields<Framework> communication_fields() {
    return {{"overlap_tensor_backward", flag(&Framework::overlap_tensor_backward),
             "Tensor-parallel collectives of the backward run during products of weight gradients.",
             "false"},
            {"tensor_overlap", flag(&Framework::tensor_overlap),
             "Products and the tensor-parallel collectives beside them run piece by piece at the "
             "same time (Megatron's --tp-comm-overlap, PyTorch's async tensor parallelism).",
             "true"},
            {"grad_reduce_dtype", word(&Framework::grad_reduce_dtype, kReduceTypes),
             "The type of gradients in reductions over replicas.", "bf16",
             "parallel.communication_dtype, else the type that they have in memory"},
            {"copies_along_sequence", flag(&Framework::copies_along_sequence),
             "Gathers and reductions of tensor parallelism are along the sequence of tensors whose "
             "first dimension is the batch, which a copy of the whole puts in order (PyTorch's "
             "functional collectives); not with tensor_overlap.",
             "true"},
            {"casts_shards", flag(&Framework::casts_shards),
             "Sharded parameters are fp32 and are cast for every gather; gathers and reductions go "
             "through buffers of their own (PyTorch's FSDP).",
             "true"},
            {"collective_memory", flag(&Framework::collective_memory),
             "Buffers of gathers and shards of gradients lie in memory of their collectives' "
             "streams, which the allocator reserves in addition (FSDP2).",
             "true"},
            {"keeps_messages", flag(&Framework::keeps_messages),
             "A stage has buffers for the messages of all microbatches from the start, and keeps "
             "its outputs until their backward (PyTorch's PipelineStage).",
             "true"},
            {"sums_whole_gradients", flag(&Framework::sums_whole_gradients),
             "In a pipeline, gradients of sharded stages are summed whole and reduced after the "
             "last microbatch (FSDP2).",
             "true"},
            {"collective_sms", whole(&Framework::collective_sms, 0, 1000, "multiprocessors"),
             "Streaming multiprocessors that a gather or reduction over replicas occupies while it "
             "runs beside kernels.",
             "20"},
            {"counts_causal_half", flag(&Framework::counts_causal_half),
             "The TFLOP/s that the software prints count half of causal attention (Megatron-LM "
             "since 2025).",
             "true"},
            {"capacity_factor", real(&Framework::capacity_factor, 0.001, 4096, "ratio"),
             "The most rows that an expert takes, relative to a balanced router; rows over it are "
             "dropped, those with the smallest weights first (Megatron's "
             "--moe-expert-capacity-factor). Each rank drops of its own tokens.",
             "1.5", "none: no row is dropped"},
            {"overlap_grad_reduce", flag(&Framework::overlap_grad_reduce),
             "Gradients are reduced in buckets during the last backward passes.", "true"},
            {"reduces_by_layer", flag(&Framework::reduces_by_layer),
             "A bucket is a layer, and the embeddings are one piece.", "true"},
            {"overlap_param_gather", flag(&Framework::overlap_param_gather),
             "Parameters are gathered during the first forward passes of the next step.", "true"},
            {"pair_hides",
             custom(read_pair_hides,
                    {Form{text::WordForm{names_of(kExchangeWords)}},
                     Form{text::ListForm{{Form{text::WordForm{names_of(kExchangeWords)}}}, {}}}}),
             "The communication of either half of a pair of passes that the other half hides.",
             "[expert_all_to_all]", "[]"},
            {"point_to_point", word(&Framework::point_to_point, kPointToPoint),
             "What a tensor-parallel rank sends to the next stage: the whole tensor, or its share, "
             "gathered there.",
             "full"},
            {"point_to_point_blocks",
             custom(read_messages_block,
                    {Form{text::FlagForm{}}, Form{text::WordForm{names_of(kMessagesBlock)}}}),
             "The sender waits for its send, and the host of either end waits for the message "
             "before it launches what follows: always, never, or as in Megatron-LM in GPipe and "
             "1F1B (without-chunks), and in interleaved 1F1B too (whole-backward).",
             "without-chunks", "false"},
            {"grad_bucket", checked_bytes(read_grad_bucket, &Framework::grad_bucket),
             "Bytes of gradients that are reduced at once, where that overlaps; at least 1 KiB.",
             "160 MB"}};
}

Fields<Framework> host_fields() {
    return {
        {"host_module", duration(&Framework::host_module),
         "The host's time for each operator of a forward, beside launching its kernels.", "60 us"},
        {"host_kernel", duration(&Framework::host_kernel), "The host's time to launch a kernel.",
         "8 us"},
        {"host_tensor_collective", duration(&Framework::host_tensor_collective),
         "The host's time to launch a collective of tensor parallelism.", "30 us"},
        {"host_expert", duration(&Framework::host_expert),
         "The host's time to launch the product of one expert, or the cast before it, where a "
         "grouped product is a loop over the rank's experts.",
         "20 us"},
        {"host_micro_batch", duration(&Framework::host_micro_batch),
         "The host's time between two microbatches.", "500 us"},
        {"host_checkpoint", duration(&Framework::host_checkpoint),
         "The host's time to enter a part of a layer that runs again in the backward, and as much "
         "to run it again: states of random numbers are kept and put back.",
         "200 us"},
        {"host_pair", real(&Framework::host_pair, 1, 100, "ratio"),
         "The host's time for a pair of passes whose layers run beside each other (combined-1f1b), "
         "relative to that for both of them apart.",
         "1.5"},
        {"exchange_beside", real(&Framework::exchange_beside, 1, 100, "ratio"),
         "The time of an exchange of experts beside kernels of the other pass of a pair "
         "(combined-1f1b), relative to that alone.",
         "1.3"},
        {"host_unit", duration(&Framework::host_unit),
         "The host's time for a gather or a reduction of sharded parameters.", "400 us"},
        {"cuda_graphs",
         custom(read_cuda_graphs,
                {Form{text::WordForm{{std::string(kNoGraphs), std::string(kAllGraphs)}}},
                 Form{text::ListForm{{Form{text::WordForm{names_of(kGraphScopeWords)}}}, {}}}}),
         "What the host launches as CUDA graphs: nothing, all passes of a step, or parts of "
         "every layer.",
         "[attn, moe_router]", "none"}};
}

Fields<Framework> step_fields() {
    return {
        {"optimizer", word(&Framework::optimizer, kOptimizers),
         "The implementation of the optimizer's step.", "foreach-adam"},
        {"optimizer_bytes_per_parameter",
         real(&Framework::optimizer_bytes_per_parameter, 0, 1000, "bytes"),
         "The memory traffic of a step on the device, per parameter.", "50",
         "28 for fused-adam, 50 for foreach-adam, 80 for per-tensor-adam"},
        {"optimizer_tensor", duration(&Framework::optimizer_tensor),
         "Time added for each parameter tensor of a step, where the host waits for the device.",
         "60 us"},
        {"optimizer_fixed", duration(&Framework::optimizer_fixed), "Time added for each step.",
         "3 ms"},
        {"offload_buffer", checked_bytes(read_offload_buffer, &Framework::offload_buffer),
         "The buffer on the GPU through which an offloaded optimizer state passes; 0 B: the node's "
         "processors step it (ZeRO-Offload).",
         "48 MiB"},
        {"post_validation", flag(&Framework::post_validation),
         "The optimizer steps before the gradients' norm is known, and undoes a step that was "
         "wrong (zero bubble).",
         "true"},
        {"rollback_copies", flag(&Framework::rollback_copies),
         "The values that such a step may have to undo are copied before it.", "true"}};
}

Fields<Framework> memory_fields() {
    return {{"recompute", word(&Framework::recompute, kDefaultRecomputes),
             "What runs again in the backward where training.recompute is not given.",
             "selective-op", "none"},
            {"allocator", word(&Framework::allocator, kAllocators),
             "The model of the device's memory allocator.", "arena"},
            {"library_workspace", bytes(&Framework::library_workspace),
             "Bytes that libraries such as cuBLAS hold throughout.", "96 MiB"},
            {"headroom", bytes(&Framework::headroom),
             "The part of a GPU's memory that its allocator never gets: context, kernels, NCCL.",
             "2 GiB"},
            {"main_grad_buffer", flag(&Framework::main_grad_buffer),
             "One flat fp32 buffer holds the gradients for the whole run.", "false"},
            {"ddp_buckets", flag(&Framework::ddp_buckets),
             "The gradients have another copy, in the buckets of PyTorch DDP.", "true"}};
}

const Fields<Framework>& framework_fields() {
    static const Fields<Framework> kFields = [] {
        Fields<Framework> all{
            {"name", free_text(&Framework::name), "The profile's name.", "mine", "inline"},
            {"source", free_text(&Framework::source), "Where the figures come from, as a sentence.",
             "Measured on one node", "none"},
            {"release", free_text(&Framework::release),
             "The release of the software, as its source names it.", "nemo 25.04", "not stated"}};
        for (auto make :
             {kernel_fields, communication_fields, host_fields, step_fields, memory_fields}) {
            const Fields<Framework> more = make();
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }();
    return kFields;
}

}  // namespace

std::vector<text::Key> framework_keys() {
    return described(framework_fields());
}

Framework read_framework(const text::NodePtr& value, text::ShippedFiles& shipped,
                         text::Mistakes& mistakes) {
    Framework f;
    const text::NodePtr map = shipped.resolve(value, "framework", "scenarios/frameworks", mistakes);
    if (!map) return f;
    MappingReader in(map, "framework", mistakes);
    f.name = "inline";
    read_fields(in, framework_fields(), f);
    in.finish();
    return f;
}

Framework shipped_framework(const std::string& name) {
    text::ShippedFiles shipped;
    text::Mistakes mistakes;
    Framework framework = read_framework(text::make_scalar(name, {}), shipped, mistakes);
    mistakes.throw_if_any();
    return framework;
}

}  // namespace debubble::scenarios
