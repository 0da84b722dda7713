#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "models/network/architecture.h"
#include "models/read/layer_keys.h"

/// The spelling of an architecture's values in YAML and JSON.
namespace debubble::models {

/// The spelling of position embeddings: a learned table of the network, or in its layers.
enum class Positions { None, Learned, Rope, Alibi };

inline constexpr std::pair<std::string_view, Family> kFamilies[] = {
    {"gpt2", Family::Gpt2},
    {"gpt_neox", Family::GptNeox},
    {"mpt", Family::Mpt},
    {"llama", Family::Llama},
    {"phi3", Family::Phi3},
    {"deepseek", Family::Deepseek},
    {"gpt_oss", Family::GptOss},
    {"llama4", Family::Llama4},
    {"qwen3_next", Family::Qwen3Next},
    {"nemotron_h", Family::NemotronH},
    {"planned", Family::Planned},
    {"vit", Family::Vit}};
inline constexpr std::pair<std::string_view, Norm> kNorms[] = {{"layer_norm", Norm::LayerNorm},
                                                               {"rms_norm", Norm::RmsNorm}};
inline constexpr std::pair<std::string_view, Activation> kActivations[] = {
    {"gelu", Activation::Gelu},
    {"gelu_tanh", Activation::GeluTanh},
    {"relu", Activation::Relu},
    {"squared_relu", Activation::SquaredRelu},
    {"swiglu", Activation::Swiglu},
    {"geglu", Activation::Geglu},
    {"geglu_tanh", Activation::GegluTanh},
    {"clamped_swiglu", Activation::ClampedSwiglu},
    {"xielu", Activation::Xielu},
    {"situ", Activation::Situ}};
inline constexpr std::pair<std::string_view, QkNorm> kQkNorms[] = {
    {"none", QkNorm::None}, {"heads", QkNorm::Heads}, {"width", QkNorm::Width}, {"l2", QkNorm::L2}};
inline constexpr std::pair<std::string_view, NormPosition> kNormPositions[] = {
    {"before", NormPosition::Before}, {"after", NormPosition::After}, {"both", NormPosition::Both}};
inline constexpr std::pair<std::string_view, Router> kRouters[] = {
    {"softmax", Router::Softmax},
    {"pre_softmax", Router::PreSoftmax},
    {"sigmoid", Router::Sigmoid},
    {"sqrt_softplus", Router::SqrtSoftplus}};
inline constexpr std::pair<std::string_view, RouterDtype> kRouterDtypes[] = {
    {"compute", RouterDtype::Compute}, {"fp32", RouterDtype::Fp32}};
inline constexpr std::pair<std::string_view, RopeScaling::Kind> kRopeScalings[] = {
    {"linear", RopeScaling::Kind::Linear},
    {"dynamic", RopeScaling::Kind::Dynamic},
    {"llama3", RopeScaling::Kind::Llama3},
    {"yarn", RopeScaling::Kind::Yarn},
    {"longrope", RopeScaling::Kind::Longrope}};
inline constexpr std::pair<std::string_view, MixerKind> kMixers[] = {
    {"attention", MixerKind::Attention},
    {"mamba", MixerKind::Mamba},
    {"delta_net", MixerKind::DeltaNet},
    {"none", MixerKind::None}};
inline constexpr std::pair<std::string_view, Positions> kPositions[] = {
    {"none", Positions::None},
    {"learned", Positions::Learned},
    {"rope", Positions::Rope},
    {"alibi", Positions::Alibi}};
inline constexpr std::pair<std::string_view, Sharding> kShardings[] = {
    {"column", Sharding::Column},
    {"row", Sharding::Row},
    {"vocabulary", Sharding::Vocabulary},
    {"replicated", Sharding::Replicated}};

/// The architecture as a JSON object with every field, from which read_own_architecture reads an
/// equal one.
std::string architecture_json(const Architecture& architecture);

}  // namespace debubble::models
