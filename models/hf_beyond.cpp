#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/hf_config.h"

/// What configurations say beyond the keys that readers of families know, by the names of
/// transformers' classes.
namespace debubble::models {

namespace {

/// A key that makes another network of what is read: other operators, or other values of them.
struct Beyond {
    std::string_view key;
    std::string_view what;
};

constexpr Beyond kRefused[] = {
    {"clip_qkv", "queries, keys and values that are clipped"},
    {"residual_multiplier", "branches that are scaled"},
    {"embedding_multiplier", "embeddings with a factor of their own"},
    {"attention_multiplier", "scores with a factor of their own"},
    {"logits_scaling", "logits that are scaled"},
    {"qk_layernorm", "layer norms of queries and keys"},
    {"num_kv_shared_layers", "layers that share keys and values"},
    {"altup_num_inputs", "several residual streams"},
    {"hidden_size_per_layer_input", "embeddings of each layer"},
    {"cross_attention_layers", "cross-attention"},
    {"num_loops", "layers that run several times"},
    {"zero_expert_num", "experts that compute nothing"},
    {"attention_sink_size", "tokens that every other one sees"},
    {"lora_rank", "weights that are updated by products of low rank"},
};

/// Keys of what a network is beside the one that is read, or in which form its weights are stored.
constexpr Beyond kNoted[] = {
    {"quantization_config", "whose weights are stored quantised"},
    {"vision_config", "without the part that sees"},
    {"audio_config", "without the part that hears"},
};

/// No value, or one by which a class leaves the part out: a factor of 1, no layers.
bool is_neutral(const text::Node& value) {
    constexpr std::array<std::string_view, 6> kNeutral{"", "false", "0", "1", "0.0", "1.0"};
    if (value.is(text::Node::Kind::Null)) return true;
    if (value.is(text::Node::Kind::Scalar))
        return std::ranges::find(kNeutral, value.scalar) != kNeutral.end();
    return value.items.empty() && value.entries.empty();
}

}  // namespace

void refuse_beyond(text::MappingReader& in) {
    for (const auto& [key, what] : kRefused) {
        const text::NodePtr value = in.value(key);
        if (value && !is_neutral(*value)) in.complain(key, fmt::format("{} are not planned", what));
    }
}

void note_beyond(text::MappingReader& in, Config& config) {
    for (const auto& [key, what] : kNoted)
        if (const text::NodePtr value = in.value(key); value && !is_neutral(*value))
            config.notes.push_back(fmt::format("{} ('{}')", what, key));
}

}  // namespace debubble::models
