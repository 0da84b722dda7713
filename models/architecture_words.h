#pragma once

#include <string_view>
#include <utility>

#include "models/architecture.h"

/// The spelling of an architecture's values in YAML and JSON.
namespace debubble::models {

/// How a file says that positions are told: by a learned table of the network, or by its layers.
enum class Positions { None, Learned, Rope };

inline constexpr std::pair<std::string_view, Family> kFamilies[] = {
    {"gpt2", Family::Gpt2}, {"llama", Family::Llama}, {"vit", Family::Vit}};
inline constexpr std::pair<std::string_view, Norm> kNorms[] = {{"layer_norm", Norm::LayerNorm},
                                                               {"rms_norm", Norm::RmsNorm}};
inline constexpr std::pair<std::string_view, Activation> kActivations[] = {
    {"gelu", Activation::Gelu},
    {"gelu_tanh", Activation::GeluTanh},
    {"relu", Activation::Relu},
    {"swiglu", Activation::Swiglu}};
inline constexpr std::pair<std::string_view, Positions> kPositions[] = {
    {"none", Positions::None}, {"learned", Positions::Learned}, {"rope", Positions::Rope}};
inline constexpr std::pair<std::string_view, Sharding> kShardings[] = {
    {"column", Sharding::Column},
    {"row", Sharding::Row},
    {"vocabulary", Sharding::Vocabulary},
    {"replicated", Sharding::Replicated}};

}  // namespace debubble::models
