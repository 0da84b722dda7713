#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Keys of configurations in addition to those of the readers, by the names of transformers'
/// classes.
namespace debubble::models {

namespace {

/// A key that makes another network of what is read: other operators, or other values of them.
struct Beyond {
    std::string_view key;
    std::string_view what;
};

constexpr Beyond kRefused[] = {
    {"clip_qkv", "clipped queries, keys and values"},
    {"residual_multiplier", "scaled residual branches"},
    {"embedding_multiplier", "scaled embeddings"},
    {"attention_multiplier", "attention scores with a custom scale"},
    {"logits_scaling", "scaled logits"},
    {"qk_layernorm", "layer norms of queries and keys"},
    {"num_kv_shared_layers", "layers that share keys and values"},
    {"altup_num_inputs", "several residual streams"},
    {"hidden_size_per_layer_input", "embeddings of each layer"},
    {"cross_attention_layers", "cross-attention"},
    {"num_loops", "layers that are applied several times"},
    {"zero_expert_num", "zero-computation experts"},
    {"attention_sink_size", "tokens that all others attend to"},
    {"lora_rank", "weights with low-rank updates"},
};

/// Factors on which no figure of a plan depends.
bool is_factor(std::string_view key) {
    return key.ends_with("_multiplier") || key == "logits_scaling";
}

/// Keys of parts of a network other than the text model, or of the format of its weights.
constexpr Beyond kNoted[] = {
    {"quantization_config", "whose weights are stored quantized"},
    {"vision_config", "without its vision tower"},
    {"audio_config", "without its audio encoder"},
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

void refuse_beyond(text::MappingReader& in, std::string_view type) {
    // Networks that are planned alone, on which factors have no effect.
    const bool has_factors =
        type.starts_with("granite") || type == "hyperclovax" || type == "falcon_h1";
    for (const auto& [key, what] : kRefused) {
        if (has_factors && is_factor(key)) continue;
        const text::NodePtr value = in.value(key);
        if (value && !is_neutral(*value))
            in.complain(key, fmt::format("{} are not supported", what));
    }
}

void note_beyond(text::MappingReader& in, Config& config, bool sees) {
    for (const auto& [key, what] : kNoted) {
        if (sees && key == "vision_config") continue;
        if (const text::NodePtr value = in.value(key); value && !is_neutral(*value))
            config.notes.push_back(fmt::format("{} ('{}')", what, key));
    }
}

void note_prediction(text::MappingReader& in, Config& config) {
    int more = 0;
    for (const std::string_view key : {"num_nextn_predict_layers", "mtp_num_hidden_layers",
                                       "num_nextn_predict_modules", "num_mtp_layers"})
        in.whole(key, more, 0, kMostMtpLayers);
    int each = 1;
    if (in.whole("num_mtp_modules", more, 0, kMostMtpLayers))
        in.whole("mtp_transformer_layers", each, 0, kMostMtpLayers);
    // The layers of the modules; in a plan each has a layer like the last one.
    for (const std::string_view key :
         {"mtp_hybrid_override_pattern", "mtp_layers_block_type", "mtp_use_dedicated_embeddings",
          "mtp_loss_weight", "mtp_transformer_layers", "use_mtp", "mtp_loss_scaling_factor"})
        in.value(key);
    more *= each;
    if (more > 0)
        config.notes.push_back(
            fmt::format("without multi-token prediction ('mtp_layers: {}' enables it)", more));
}

}  // namespace debubble::models
