#include <algorithm>

#include <fmt/format.h>

#include "models/hf_config.h"

/// Parameters of the parts of published networks that see, by transformers 5.24's classes. They are
/// counted, and not planned.
namespace debubble::models {
namespace {

/// A reader of whole numbers of a tower's map; the mistakes go to the whole file.
struct TowerSizes {
    const text::Node& map;
    bool known = true;

    std::int64_t at(std::string_view key, std::int64_t usual) {
        const text::NodePtr value = map.get(key);
        if (!value || !value->is(text::Node::Kind::Scalar)) return usual;
        std::int64_t number = 0;
        for (const char digit : value->scalar) {
            if (digit < '0' || digit > '9' || number > 1'000'000'000) {
                known = false;
                return usual;
            }
            number = 10 * number + (digit - '0');
        }
        return number;
    }
};

/// A layer with layer norms and biases: four products of attention and two of the MLP.
std::int64_t plain_block(std::int64_t w, std::int64_t f) {
    return 4 * w + 4 * w * w + 4 * w + 2 * w * f + f + w;
}

std::int64_t qwen_tower(TowerSizes size) {
    const std::int64_t w = size.at("hidden_size", 1152);
    const std::int64_t f = size.at("intermediate_size", 4304);
    const std::int64_t h = size.at("out_hidden_size", 3584);
    const std::int64_t patch = size.at("patch_size", 16);
    const std::int64_t merge = size.at("spatial_merge_size", 2);
    const std::int64_t pixels =
        size.at("in_channels", 3) * size.at("temporal_patch_size", 2) * patch * patch;
    const std::int64_t wide = w * merge * merge;
    const std::int64_t merged = wide * wide + wide + wide * h + h;
    std::int64_t deeper = 0;
    if (const text::NodePtr list = size.map.get("deepstack_visual_indexes"))
        deeper = static_cast<std::int64_t>(list->items.size());
    if (!size.known) return 0;
    return pixels * w + w + size.at("num_position_embeddings", 2304) * w +
           size.at("depth", 27) * plain_block(w, f) + 2 * w + merged + deeper * (2 * wide + merged);
}

std::int64_t kimi_tower(TowerSizes size, std::int64_t hidden) {
    const std::int64_t w = size.at("vt_hidden_size", size.at("hidden_size", 1152));
    const std::int64_t f = size.at("vt_intermediate_size", size.at("intermediate_size", 4304));
    const std::int64_t layers = size.at("vt_num_hidden_layers", size.at("num_hidden_layers", 27));
    const std::int64_t patch = size.at("patch_size", 14);
    const std::int64_t positions =
        size.at("init_pos_emb_height", 64) * size.at("init_pos_emb_width", 64);
    const std::int64_t wide = 4 * w;
    if (!size.known) return 0;
    return 3 * patch * patch * w + w + positions * w + layers * plain_block(w, f) + 2 * w + 2 * w +
           wide * wide + wide + wide * hidden + hidden;
}

std::int64_t gemma_tower(TowerSizes size, std::int64_t hidden) {
    const std::int64_t w = size.at("hidden_size", 1152);
    const std::int64_t f = size.at("intermediate_size", 4304);
    const std::int64_t d = size.at("head_dim", 72);
    const std::int64_t heads = size.at("num_attention_heads", 16) * d;
    const std::int64_t keys = size.at("num_key_value_heads", 16) * d;
    const std::int64_t patch = size.at("patch_size", 16);
    const std::int64_t block = w * (2 * heads + 2 * keys) + 3 * w * f + 4 * w + 2 * d;
    if (!size.known) return 0;
    return 3 * patch * patch * w + 2 * size.at("position_embedding_size", 10240) * w +
           size.at("num_hidden_layers", 27) * block + w * hidden;
}

std::int64_t llama4_tower(TowerSizes size, std::int64_t hidden) {
    const std::int64_t w = size.at("hidden_size", 768);
    const std::int64_t f = size.at("intermediate_size", 5632);
    const std::int64_t patch = size.at("patch_size", 14);
    const std::int64_t side = size.at("image_size", 448) / std::max<std::int64_t>(1, patch);
    const std::int64_t in = size.at("projector_input_dim", 4096);
    const std::int64_t out = size.at("projector_output_dim", 4096);
    if (!size.known) return 0;
    return size.at("num_channels", 3) * patch * patch * w + w + (side * side + 1) * w + 4 * w +
           size.at("num_hidden_layers", 34) * plain_block(w, f) + f * in + out * out +
           size.at("vision_output_dim", 7680) * hidden;
}

}  // namespace

std::int64_t tower_parameters(const text::MappingReader& outer, std::int64_t hidden) {
    const text::NodePtr type = outer.mapping()->get("model_type");
    const std::string_view word = type ? std::string_view(type->scalar) : std::string_view();
    const text::NodePtr audio = outer.mapping()->get("audio_config");
    if (audio && audio->is(text::Node::Kind::Map) && !audio->entries.empty()) return 0;
    const text::NodePtr vision = outer.mapping()->get("vision_config");
    static const text::NodePtr& nothing = *new text::NodePtr(text::make_map({}, {}));
    const bool said = vision && vision->is(text::Node::Kind::Map);
    const text::Node& map = said ? *vision : *nothing;
    if (word == "llama4") return llama4_tower({map}, hidden);  // which it has without a word, too
    if (!said) return 0;
    if (word.starts_with("qwen3_vl") || word.starts_with("qwen3_5")) return qwen_tower({map});
    if (word == "kimi_k25") return kimi_tower({map}, hidden);
    if (word == "gemma4") return gemma_tower({map}, hidden);
    return 0;
}

}  // namespace debubble::models
