#include "scenarios/framework_reader.h"

#include <algorithm>

#include "text/mapping_reader.h"

namespace debubble::scenarios {
namespace {

using models::LossKernel;
using text::MappingReader;

constexpr std::pair<std::string_view, LossKernel> kLosses[] = {
    {"unfused", LossKernel::Unfused},
    {"megatron-fused", LossKernel::MegatronFused},
    {"transformer-engine", LossKernel::TransformerEngine},
    {"eager-pytorch", LossKernel::EagerPyTorch},
    {"chunked", LossKernel::Chunked}};
constexpr std::pair<std::string_view, models::ContextCommunication> kContextCommunications[] = {
    {"p2p", models::ContextCommunication::P2p},
    {"all-gather", models::ContextCommunication::AllGather},
    {"all-to-all", models::ContextCommunication::AllToAll}};
constexpr std::pair<std::string_view, PointToPoint> kPointToPoint[] = {
    {"full", PointToPoint::Full}, {"scatter-gather", PointToPoint::ScatterGather}};
constexpr std::pair<std::string_view, OptimizerKind> kOptimizers[] = {
    {"fused-adam", OptimizerKind::FusedAdam},
    {"foreach-adam", OptimizerKind::ForeachAdam},
    {"per-tensor-adam", OptimizerKind::PerTensorAdam}};
constexpr std::pair<std::string_view, AllocatorModel> kAllocators[] = {
    {"exact", AllocatorModel::Exact},
    {"pytorch-caching", AllocatorModel::PyTorchCaching},
    {"arena", AllocatorModel::Arena}};

void read_kernels(MappingReader& in, models::KernelOptions& kernels) {
    in.flag("gradient_accumulation_fusion", kernels.gradient_accumulation_fusion);
    in.flag("fused_bias_activation", kernels.fused_bias_activation);
    in.flag("fused_bias_dropout_add", kernels.fused_bias_dropout_add);
    in.flag("fused_rope", kernels.fused_rope);
    in.flag("fused_norm", kernels.fused_norm);
    in.flag("dropout_masks_always", kernels.dropout_masks_always);
    in.flag("replayed_dropout", kernels.replayed_dropout);
    in.flag("embedding_gradient_tensor", kernels.embedding_gradient_tensor);
    in.flag("activation_gradient_in_place", kernels.activation_gradient_in_place);
    in.flag("fp32_query_gradient", kernels.fp32_query_gradient);
    in.flag("attention_mask_tensor", kernels.attention_mask_tensor);
    in.flag("attention_copies", kernels.attention_copies);
    in.flag("packed_attention", kernels.packed_attention);
    in.flag("keeps_gathered", kernels.keeps_gathered);
    in.word("context_communication", kernels.context_communication, kContextCommunications);
    in.flag("context_output_copy", kernels.context_output_copy);
    in.flag("weighted_experts_activation", kernels.weighted_experts_activation);
    in.flag("dummy_weight_gradients", kernels.dummy_weight_gradients);
    in.word("loss", kernels.loss, kLosses);
    in.whole("vocabulary_multiple", kernels.vocabulary_multiple, 1, 1 << 20);
}

constexpr std::pair<std::string_view, Exchange> kExchangeWords[] = {
    {"expert_all_to_all", Exchange::ExpertAllToAll},
    {"tensor_collectives", Exchange::Tensor},
    {"context_exchange", Exchange::Context},
    {"sharded_parameters", Exchange::ShardedParameters}};

/// Reads a list of words; it replaces the list of the profile's base and does not add to it.
void read_pair_hides(MappingReader& in, Framework& f) {
    std::vector<std::string> words;
    if (!in.texts("pair_hides", words)) return;
    std::vector<std::string> known;
    for (const auto& [word, exchange] : kExchangeWords) known.emplace_back(word);
    for (const std::string& word : words) {
        const auto at = std::ranges::find(known, word);
        if (at == known.end())
            in.complain_unknown("pair_hides", "exchange", word, known);
        else
            f.pair_hides[static_cast<std::size_t>(kExchangeWords[at - known.begin()].second)] =
                true;
    }
}

void read_communication(MappingReader& in, Framework& f) {
    in.flag("overlap_tensor_backward", f.overlap_tensor_backward);
    in.flag("overlap_grad_reduce", f.overlap_grad_reduce);
    in.flag("reduces_by_layer", f.reduces_by_layer);
    in.flag("overlap_param_gather", f.overlap_param_gather);
    read_pair_hides(in, f);
    in.word("point_to_point", f.point_to_point, kPointToPoint);
    in.flag("point_to_point_blocks", f.point_to_point_blocks);
    if (in.bytes("grad_bucket", f.grad_bucket) && f.grad_bucket < Bytes{1 << 10})
        in.complain("grad_bucket", "'grad_bucket' must be at least 1 KiB");
}

void read_host(MappingReader& in, Framework& f) {
    in.duration("host_forward_layer", f.host_forward_layer);
    in.duration("host_backward_layer", f.host_backward_layer);
    in.duration("host_recompute_layer", f.host_recompute_layer);
    in.duration("host_tensor_collective", f.host_tensor_collective);
    in.duration("host_micro_batch", f.host_micro_batch);
}

void read_optimizer(MappingReader& in, Framework& f) {
    in.word("optimizer", f.optimizer, kOptimizers);
    in.real("optimizer_bytes_per_parameter", f.optimizer_bytes_per_parameter, 0, 1000);
    in.duration("optimizer_fixed", f.optimizer_fixed);
    if (in.bytes("offload_buffer", f.offload_buffer) && f.offload_buffer.count != 0 &&
        f.offload_buffer < Bytes{16 << 10})
        in.complain("offload_buffer", "'offload_buffer' must be 0 or at least 16 KiB");
    in.flag("post_validation", f.post_validation);
    in.flag("rollback_copies", f.rollback_copies);
}

void read_memory(MappingReader& in, Framework& f) {
    in.word("allocator", f.allocator, kAllocators);
    in.bytes("library_workspace", f.library_workspace);
    in.bytes("headroom", f.headroom);
    in.flag("main_grad_buffer", f.main_grad_buffer);
    in.flag("ddp_buckets", f.ddp_buckets);
}

}  // namespace

Framework read_framework(const text::NodePtr& value, text::ShippedFiles& shipped,
                         text::Mistakes& mistakes) {
    Framework f;
    const text::NodePtr map = shipped.resolve(value, "framework", "scenarios/frameworks", mistakes);
    if (!map) return f;
    MappingReader in(map, "framework", mistakes);
    f.name = "inline";
    in.text("name", f.name);
    in.text("source", f.source);
    read_kernels(in, f.kernels);
    read_communication(in, f);
    read_host(in, f);
    read_optimizer(in, f);
    read_memory(in, f);
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
