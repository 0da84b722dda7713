#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "models/execution/kernel_options.h"
#include "scenarios/software/framework.h"

/// The spelling of a framework's values in YAML, which jobs of other frameworks compare and write.
namespace debubble::scenarios {

inline constexpr std::pair<std::string_view, models::LossKernel> kLosses[] = {
    {"unfused", models::LossKernel::Unfused},
    {"megatron-fused", models::LossKernel::MegatronFused},
    {"transformer-engine", models::LossKernel::TransformerEngine},
    {"eager-pytorch", models::LossKernel::EagerPyTorch},
    {"eager-fp32", models::LossKernel::EagerFp32},
    {"compiled", models::LossKernel::Compiled},
    {"chunked", models::LossKernel::Chunked}};
inline constexpr std::pair<std::string_view, models::ContextCommunication>
    kContextCommunications[] = {{"p2p", models::ContextCommunication::P2p},
                                {"all-gather", models::ContextCommunication::AllGather},
                                {"all-to-all", models::ContextCommunication::AllToAll},
                                {"a2a+p2p", models::ContextCommunication::TwoLevel}};
/// Types in which tokens are dispatched to experts; bf16 stands for the compute type.
inline constexpr std::pair<std::string_view, models::Narrow> kRowTypes[] = {
    {"bf16", models::Narrow::None},
    {"fp8", models::Narrow::Fp8Blockwise},
    {"mxfp8", models::Narrow::MxFp8}};
inline constexpr std::pair<std::string_view, models::Dispatcher> kDispatchers[] = {
    {"alltoall", models::Dispatcher::AllToAll},
    {"allgather", models::Dispatcher::AllGather},
    {"deepep", models::Dispatcher::DeepEp},
    {"hybridep", models::Dispatcher::HybridEp}};
inline constexpr std::pair<std::string_view, models::DataType> kReduceTypes[] = {
    {"bf16", models::DataType::Bf16}, {"fp32", models::DataType::Fp32}};
inline constexpr std::pair<std::string_view, models::Recompute> kDefaultRecomputes[] = {
    {"none", models::Recompute::None},
    {"full", models::Recompute::Full},
    {"selective-op", models::Recompute::Products}};
inline constexpr std::string_view kByRelease = "by-release";
inline constexpr std::string_view kNoGraphs = "none";
inline constexpr std::string_view kAllGraphs = "full_iteration";
inline constexpr std::pair<std::string_view, GraphScope> kGraphScopeWords[] = {
    {"layer", GraphScope::Layer},
    {"attn", GraphScope::Attention},
    {"mlp", GraphScope::Mlp},
    {"mamba", GraphScope::Mamba},
    {"moe", GraphScope::Moe},
    {"moe_router", GraphScope::MoeRouter},
    {"moe_preprocess", GraphScope::MoePreprocess}};
inline constexpr std::pair<std::string_view, std::optional<models::FusedAttention>>
    kFusedAttentions[] = {{"cudnn", models::FusedAttention::Cudnn},
                          {"cudnn-2024", models::FusedAttention::Cudnn2024},
                          {"flash-1", models::FusedAttention::Flash1},
                          {"flash-2", models::FusedAttention::Flash2},
                          {"flash-3", models::FusedAttention::Flash3},
                          {"sdpa-efficient", models::FusedAttention::SdpaEfficient},
                          {"triton", models::FusedAttention::Triton},
                          {"unfused", std::nullopt}};
inline constexpr std::pair<std::string_view, GradReduction> kGradReductions[] = {
    {"bucket", GradReduction::Bucket}, {"owner", GradReduction::Owner}};
inline constexpr std::pair<std::string_view, Gather> kGathers[] = {
    {"unit", Gather::Unit}, {"parameter", Gather::Parameter}};
inline constexpr std::pair<std::string_view, PointToPoint> kPointToPoint[] = {
    {"full", PointToPoint::Full}, {"scatter-gather", PointToPoint::ScatterGather}};
inline constexpr std::pair<std::string_view, MessagesBlock> kMessagesBlock[] = {
    {"without-chunks", MessagesBlock::WithoutChunks},
    {"whole-backward", MessagesBlock::ByWholeBackward}};
inline constexpr std::pair<std::string_view, OptimizerKind> kOptimizers[] = {
    {"fused-adam", OptimizerKind::FusedAdam},
    {"foreach-adam", OptimizerKind::ForeachAdam},
    {"per-tensor-adam", OptimizerKind::PerTensorAdam}};
inline constexpr std::pair<std::string_view, AllocatorModel> kAllocators[] = {
    {"exact", AllocatorModel::Exact},
    {"pytorch-caching", AllocatorModel::PyTorchCaching},
    {"pytorch-expandable", AllocatorModel::PyTorchExpandable},
    {"arena", AllocatorModel::Arena}};

inline constexpr std::pair<std::string_view, Exchange> kExchangeWords[] = {
    {"expert_all_to_all", Exchange::ExpertAllToAll},
    {"tensor_collectives", Exchange::Tensor},
    {"context_exchange", Exchange::Context},
    {"sharded_parameters", Exchange::ShardedParameters}};

/// The word of a value that the list has; empty of any other.
template <class Value, std::size_t N>
std::string_view word_in(const std::pair<std::string_view, Value> (&words)[N], const Value& value) {
    for (const auto& [word, known] : words)
        if (known == value) return word;
    return {};
}

}  // namespace debubble::scenarios
