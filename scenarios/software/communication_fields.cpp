#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/software/fields.h"
#include "scenarios/software/words.h"

/// The keys of a framework's collectives and messages.
namespace debubble::scenarios {
namespace {

using text::bytes;
using text::custom;
using text::flag;
using text::Form;
using text::MappingReader;
using text::names_of;
using text::real;
using text::whole;
using text::word;

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
            f.pair_hides[kExchangeWords[at - known.begin()].second] = true;
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

constexpr std::string_view kOfTheRelease = "by-release";

std::vector<std::string> words_of_transports() {
    std::vector<std::string> words;
    for (const NamedTransport& named : kTransports) words.emplace_back(named.name);
    words.emplace_back(kOfTheRelease);
    return words;
}

void read_transport(MappingReader& in, std::string_view key, Framework& f) {
    const text::NodePtr value = in.value(key);
    if (!value) return;
    f.transport = transport_named(value->scalar);
    if (!f.transport && value->scalar != kOfTheRelease)
        in.complain_unknown(key, "transport", value->scalar, words_of_transports());
}

void read_grad_bucket(MappingReader& in, std::string_view key, Framework& f) {
    if (in.bytes(key, f.grad_bucket) && f.grad_bucket < Bytes{1 << 10})
        in.complain(key, "'grad_bucket' must be at least 1 KiB");
}

}  // namespace

text::Fields<Framework> communication_fields() {
    return {
        {"overlap_tensor_backward", flag(&Framework::overlap_tensor_backward),
         "Tensor-parallel collectives of the backward overlap weight-gradient GEMMs.", "false"},
        {"tensor_overlap", flag(&Framework::tensor_overlap),
         "GEMMs and their tensor-parallel collectives are split into chunks and overlapped "
         "(Megatron's --tp-comm-overlap, PyTorch's async tensor parallelism).",
         "true"},
        {"grad_reduce_dtype", word(&Framework::grad_reduce_dtype, kReduceTypes),
         "The type of gradients in data-parallel reductions.", "bf16",
         "parallel.communication_dtype, else their type in memory"},
        {"copies_along_sequence", flag(&Framework::copies_along_sequence),
         "Tensor-parallel all-gathers and reduce-scatters along the sequence of batch-first "
         "tensors need a reordering copy (PyTorch's functional collectives); not with "
         "tensor_overlap.",
         "true"},
        {"casts_shards", flag(&Framework::casts_shards),
         "Sharded parameters are fp32 and cast for every all-gather; all-gathers and reductions "
         "use their own buffers (PyTorch's FSDP).",
         "true"},
        {"collective_memory", flag(&Framework::collective_memory),
         "All-gather buffers and gradient shards are allocated on communication streams, whose "
         "memory the allocator reserves in addition (FSDP2).",
         "true"},
        {"keeps_messages", flag(&Framework::keeps_messages),
         "A stage preallocates receive buffers for all microbatches and keeps its outputs until "
         "their backward (PyTorch's PipelineStage).",
         "true"},
        {"sums_whole_gradients", flag(&Framework::sums_whole_gradients),
         "In a pipeline, sharded stages accumulate unsharded gradients and reduce them after the "
         "last microbatch (FSDP2).",
         "true"},
        {"collective_sms", whole(&Framework::collective_sms, 0, 1000, "multiprocessors"),
         "The number of streaming multiprocessors that a data-parallel collective occupies while "
         "it overlaps kernels.",
         "20"},
        {"counts_causal_half", flag(&Framework::counts_causal_half),
         "The TFLOP/s printed by the software count half of causal attention (Megatron-LM since "
         "2025).",
         "true"},
        {"capacity_factor", real(&Framework::capacity_factor, 0.001, 4096, "ratio"),
         "The expert capacity relative to a balanced router; tokens over it are dropped, those "
         "with the smallest weights first (Megatron's --moe-expert-capacity-factor). Each rank "
         "drops its own tokens.",
         "1.5", "none: no token is dropped"},
        {"overlap_grad_reduce", flag(&Framework::overlap_grad_reduce),
         "Gradient buckets are reduced during the last backward passes.", "true"},
        {"reduces_by_layer", flag(&Framework::reduces_by_layer),
         "Each layer is one gradient bucket, and the embeddings are one.", "true"},
        {"overlap_param_gather", flag(&Framework::overlap_param_gather),
         "Parameter all-gathers overlap the first forward passes of the next step.", "true"},
        {"pair_hides",
         custom(read_pair_hides,
                {Form{text::WordForm{names_of(kExchangeWords)}},
                 Form{text::ListForm{{Form{text::WordForm{names_of(kExchangeWords)}}}, {}}}}),
         "The communication of each half of an overlapped pair of passes that the other half "
         "hides.",
         "[expert_all_to_all]", "[]"},
        {"point_to_point", word(&Framework::point_to_point, kPointToPoint),
         "How tensor-parallel ranks send to the next stage: the whole tensor, or a shard, gathered "
         "there.",
         "full"},
        {"point_to_point_blocks",
         custom(read_messages_block,
                {Form{text::FlagForm{}}, Form{text::WordForm{names_of(kMessagesBlock)}}}),
         "Point-to-point messages block the sender and both hosts: always, never, or as in "
         "Megatron-LM in GPipe and 1F1B (without-chunks), and in interleaved 1F1B too "
         "(whole-backward).",
         "without-chunks", "false"},
        {"transport", custom(read_transport, {Form{text::WordForm{words_of_transports()}}}),
         "The streams of messages between stages: one per edge and kind (own), per pair of ranks "
         "(pair) or per rank (group), on which they run in the order of the action lists; in "
         "batches that the rank waits for (batched), where point_to_point_blocks demands it; as "
         "own, started in the order of the lists (issue-ordered); or as in the PyTorch named by "
         "framework.release (by-release: group in 2.10, 2.11 and from 2.15 on, else pair).",
         "pair", "own"},
        {"grad_reduction", word(&Framework::grad_reduction, kGradReductions),
         "The collectives of ZeRO-1 and ZeRO-2: bucket, reduce-scatters and all-gathers; owner, a "
         "reduction to each owner of a shard and after the step a broadcast from each, one after "
         "another (PyTorch's ZeroRedundancyOptimizer, DeepSpeed without reduce_scatter).",
         "owner", "bucket"},
        {"gather", word(&Framework::gather, kGathers),
         "The granularity of ZeRO-3's all-gathers: unit, the parameters of a layer in one tensor; "
         "parameter, each by itself, in messages so small that a node uses one adapter (DeepSpeed "
         "of 2021).",
         "parameter", "unit"},
        {"grad_bucket", checked_bytes(read_grad_bucket, &Framework::grad_bucket),
         "The gradient bucket size where reduction overlaps; at least 1 KiB.", "160 MB"}};
}

}  // namespace debubble::scenarios
