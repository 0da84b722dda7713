#include <algorithm>

#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "models/hf/config.h"

/// Vision towers of published networks, by transformers 5.24's classes.
namespace debubble::models {
namespace {

/// A number of digits only, within the sizes of towers.
std::optional<std::int64_t> whole_of(const text::NodePtr& value) {
    if (!value || !value->is(text::Node::Kind::Scalar) || value->scalar.empty()) return {};
    std::int64_t number = 0;
    for (const char digit : value->scalar) {
        if (digit < '0' || digit > '9' || number > 100'000) return {};
        number = 10 * number + (digit - '0');
    }
    return number;
}

constexpr std::int64_t kMostPatches = 64;  ///< of a token, in a direction

/// A reader of sizes of a tower's map; `known` is false after one that is none.
struct TowerSizes {
    const text::Node& map;
    bool known = true;

    std::int64_t at(std::string_view key, std::int64_t usual) {
        const text::NodePtr value = map.get(key);
        if (!value || value->is(text::Node::Kind::Null)) return usual;
        const std::optional<std::int64_t> number = whole_of(value);
        known = known && number && *number > 0;
        return known ? *number : usual;
    }
    /// The product of a list of numbers, of which a square of patches has few.
    std::int64_t product_at(std::string_view key, std::int64_t usual) {
        const text::NodePtr list = map.get(key);
        if (!list || !list->is(text::Node::Kind::List)) return at(key, usual);
        std::int64_t product = 1;
        for (const text::NodePtr& item : list->items) {
            const std::int64_t factor = whole_of(item).value_or(0);
            known = known && factor > 0 && factor <= kMostPatches && product <= kMostPatches;
            if (known) product *= factor;
        }
        return product;
    }
};

/// Layers of attention and an MLP with biases and layer norms.
Layers plain_layers(std::int64_t count, std::int64_t width, std::int64_t heads, std::int64_t ffn) {
    Attention attention{heads, heads, std::max<std::int64_t>(1, width / heads)};
    attention.value_dim = attention.head_dim;
    attention.rotary = true;
    Layer layer;
    layer.mixer = attention;
    layer.mlp = DenseMlp{ffn, Activation::GeluTanh, true};
    return {layer, static_cast<int>(std::min<std::int64_t>(count, 1000))};
}

/// A token for each `merge` patches of an image of as many as the table of positions has rows.
VisionTower qwen_tower(TowerSizes& size) {
    VisionTower tower;
    tower.hidden = size.at("hidden_size", 1152);
    tower.layers = plain_layers(size.at("depth", 27), tower.hidden, size.at("num_heads", 16),
                                size.at("intermediate_size", 4304));
    const std::int64_t side = size.at("patch_size", 16);
    const std::int64_t merge = size.at("spatial_merge_size", 2);
    tower.patch_values =
        size.at("in_channels", 3) * size.at("temporal_patch_size", 2) * side * side;
    tower.positions = size.at("num_position_embeddings", 2304);
    tower.merge = merge * merge;
    tower.image_tokens = std::max<std::int64_t>(1, tower.positions / tower.merge);
    const std::int64_t wide = tower.hidden * tower.merge;
    tower.projector = {{wide, wide}, {wide, size.at("out_hidden_size", 3584)}};
    if (const text::NodePtr list = size.map.get("deepstack_visual_indexes"))
        for (const text::NodePtr& item : list->items) {
            const auto layer = whole_of(item).value_or(tower.layers.count());
            size.known = size.known && layer < tower.layers.count();
            tower.deepstack.push_back(static_cast<int>(layer));
        }
    return tower;
}

VisionTower kimi_tower(TowerSizes& size, std::int64_t hidden) {
    VisionTower tower;
    tower.hidden = size.at("vt_hidden_size", size.at("hidden_size", 1152));
    tower.layers = plain_layers(
        size.at("vt_num_hidden_layers", size.at("num_hidden_layers", 27)), tower.hidden,
        size.at("vt_num_attention_heads", size.at("num_attention_heads", 16)),
        size.at("vt_intermediate_size", size.at("intermediate_size", 4304)));
    const std::int64_t side = size.at("patch_size", 14);
    tower.patch_values = 3 * side * side;
    tower.positions = size.at("init_pos_emb_height", size.at("pos_emb_height", 64)) *
                      size.at("init_pos_emb_width", size.at("pos_emb_width", 64));
    tower.merge = size.product_at("merge_kernel_size", tower.merge);
    // The norm before the projector is as wide as the tower.
    size.known = size.known && size.at("mm_hidden_size", tower.hidden) == tower.hidden;
    tower.image_tokens = std::max<std::int64_t>(1, tower.positions / tower.merge);
    tower.norm_after = true;
    const std::int64_t wide = tower.hidden * tower.merge;
    tower.projector = {{wide, wide}, {wide, hidden}};
    tower.cut = false;
    return tower;
}

/// Gated layers with four norms, whose patches are pooled by squares.
VisionTower gemma_tower(TowerSizes& size, std::int64_t hidden) {
    VisionTower tower;
    tower.hidden = size.at("hidden_size", 1152);
    const std::int64_t heads = size.at("num_attention_heads", 16);
    tower.layers = plain_layers(size.at("num_hidden_layers", 27), tower.hidden, heads,
                                size.at("intermediate_size", 4304));
    const std::int64_t head_dim = size.at("head_dim", 72);
    size.known = size.known && size.at("num_key_value_heads", heads) == heads;
    tower.layers = tower.layers.changed([&](Layer& layer) {
        auto& attention = std::get<Attention>(layer.mixer);
        auto& mlp = std::get<DenseMlp>(layer.mlp);
        attention.head_dim = attention.value_dim = head_dim;
        attention.qkv_bias = attention.output_bias = mlp.bias = false;
        attention.qk_norm = QkNorm::Heads;
        attention.value_norm = true;
        mlp.activation = Activation::GegluTanh;
        layer.norms = NormPosition::Both;
    });
    tower.norm = Norm::RmsNorm;
    const std::int64_t side = size.at("patch_size", 16);
    tower.patch_values = 3 * side * side;
    tower.patch_bias = false;
    tower.positions = 2 * size.at("position_embedding_size", 10240);
    const std::int64_t pooled = size.at("pooling_kernel_size", 3);
    tower.merge = pooled * pooled;
    tower.pools = true;
    tower.image_tokens = size.at("default_output_length", 280);
    tower.projector_norm = false;  // it has no weights
    tower.projector = {{tower.hidden, hidden}};
    tower.projector_bias = false;
    tower.cut = false;
    return tower;
}

/// Without rotation's weights; a class token is added to the patches, which a square of four makes
/// one of.
VisionTower llama4_tower(TowerSizes& size, std::int64_t hidden) {
    VisionTower tower;
    tower.hidden = size.at("hidden_size", 768);
    const std::int64_t ffn = size.at("intermediate_size", 5632);
    tower.layers = plain_layers(size.at("num_hidden_layers", 34), tower.hidden,
                                size.at("num_attention_heads", 16), ffn);
    const std::int64_t patch = size.at("patch_size", 14);
    const std::int64_t side = size.at("image_size", 448) / std::max<std::int64_t>(1, patch);
    tower.patch_values = size.at("num_channels", 3) * patch * patch;
    tower.patch_bias = false;
    tower.class_token = true;
    tower.positions = side * side + 1;
    tower.norm_before = tower.norm_after = true;
    tower.image_tokens = std::max<std::int64_t>(1, side * side / tower.merge);
    tower.projector_norm = false;
    const std::int64_t out = size.at("projector_output_dim", 4096);
    tower.projector = {{ffn, size.at("projector_input_dim", 4096)},
                       {out, out},
                       {size.at("vision_output_dim", 7680), hidden}};
    tower.projector_bias = false;
    tower.cut = false;
    return tower;
}

/// Pixtral's, of the largest image that it takes: gated layers without biases, and a product of
/// four patches into one before the projector.
VisionTower pixtral_tower(TowerSizes& size, std::int64_t hidden, std::int64_t merge) {
    VisionTower tower;
    tower.hidden = size.at("hidden_size", 1024);
    const std::int64_t heads = size.at("num_attention_heads", 16);
    tower.layers = plain_layers(size.at("num_hidden_layers", 24), tower.hidden, heads,
                                size.at("intermediate_size", 4096));
    const std::int64_t head_dim =
        size.at("head_dim", tower.hidden / std::max<std::int64_t>(1, heads));
    tower.layers = tower.layers.changed([&](Layer& layer) {
        auto& attention = std::get<Attention>(layer.mixer);
        auto& mlp = std::get<DenseMlp>(layer.mlp);
        attention.head_dim = attention.value_dim = head_dim;
        attention.qkv_bias = attention.output_bias = mlp.bias = false;
        mlp.activation = Activation::Swiglu;
    });
    tower.norm = Norm::RmsNorm;
    const std::int64_t side = size.at("patch_size", 16);
    tower.patch_values = size.at("num_channels", 3) * side * side;
    tower.patch_bias = false;
    tower.norm_before = true;
    tower.merge = merge * merge;
    const std::int64_t patches = size.at("image_size", 1024) / side;
    tower.image_tokens = std::max<std::int64_t>(1, patches * patches / tower.merge);
    tower.projector = {
        {tower.hidden * tower.merge, tower.hidden}, {tower.hidden, hidden}, {hidden, hidden}};
    tower.projector_bias = false;
    tower.cut = false;
    return tower;
}

std::optional<VisionTower> tower_by_class(std::string_view word, TowerSizes& size,
                                          std::int64_t hidden, std::int64_t merge) {
    if (word.starts_with("qwen3_vl") || word.starts_with("qwen3_5")) return qwen_tower(size);
    if (word == "kimi_k25") return kimi_tower(size, hidden);
    if (word == "gemma4") return gemma_tower(size, hidden);
    if (word == "llama4") return llama4_tower(size, hidden);
    const text::NodePtr kind = size.map.get("model_type");
    if (word == "mistral3" && kind && kind->scalar == "pixtral")
        return pixtral_tower(size, hidden, merge);
    return std::nullopt;
}

std::int64_t parameters_of(VisionTower tower, std::int64_t hidden) {
    Architecture network;
    network.family = Family::Planned;
    network.hidden = hidden;
    network.tower = std::move(tower);
    return tower_parameter_count(network);
}

/// Heads divide the width, and the projector leads into the model's.
bool fits_together(const VisionTower& tower, std::int64_t hidden) {
    const auto& attention = *tower.layers[0].as<Attention>();
    for (std::size_t i = 1; i < tower.projector.size(); ++i)
        if (tower.projector[i].inputs != tower.projector[i - 1].outputs) return false;
    const std::int64_t read = tower.pools ? tower.hidden : tower.hidden * tower.merge;
    return attention.heads * attention.head_dim == tower.hidden &&
           tower.projector.front().inputs == read && tower.projector.back().outputs == hidden;
}

}  // namespace

SeenTower tower_of(const text::MappingReader& outer, std::int64_t hidden) {
    const text::NodePtr type = outer.mapping()->get("model_type");
    const std::string_view word = type ? std::string_view(type->scalar) : std::string_view();
    const text::NodePtr audio = outer.mapping()->get("audio_config");
    if (audio && audio->is(text::Node::Kind::Map) && !audio->entries.empty()) return {};
    const text::NodePtr vision = outer.mapping()->get("vision_config");
    const bool said = vision && vision->is(text::Node::Kind::Map);
    if (!said && word != "llama4") return {};  // which has one without a word, too
    const text::NodePtr map = said ? vision : text::make_map({}, {});
    TowerSizes size{*map};
    std::optional<VisionTower> tower =
        tower_by_class(word, size, hidden,
                       std::max<std::int64_t>(
                           1, whole_of(outer.mapping()->get("spatial_merge_size")).value_or(2)));
    const auto projected = whole_of(outer.mapping()->get("projection_hidden_size"));
    if (tower && projected && *projected != tower->hidden) return {};  // Kimi's, as mm_hidden_size
    const text::NodePtr biased = outer.mapping()->get("multimodal_projector_bias");
    if (!tower || !size.known || (biased && biased->scalar == "true")) return {};
    if (const auto tokens = whole_of(outer.mapping()->get("vision_soft_tokens_per_image")))
        tower->image_tokens = std::max<std::int64_t>(1, *tokens);
    if (said && fits_together(*tower, hidden)) return {std::move(tower), 0};
    return {{}, parameters_of(*std::move(tower), hidden)};
}

}  // namespace debubble::models
