#include "models/read/layer_reader.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/network/architecture_limits.h"
#include "models/read/architecture_words.h"
#include "text/fields.h"

namespace debubble::models {
namespace {

using text::custom;
using text::described;
using text::Fields;
using text::flag;
using text::Form;
using text::required;
using text::whole;
using text::word;

constexpr std::size_t kMostWidths = 8;

/// A tower of identical layers, with their sizes.
struct TowerFile {
    VisionTower tower;
    int layers = 1;
    std::int64_t heads = 1;
    std::int64_t head_dim = 0;  ///< 0: hidden / heads
    std::int64_t ffn = 1;
    Activation activation = Activation::GeluTanh;
    NormPosition norm_position = NormPosition::Before;
    QkNorm qk_norm = QkNorm::None;
    bool linear_bias = true;
    bool rotary = true;
    bool value_norm = false;
};

/// Widths from the first product's inputs to the last one's outputs.
void read_projector(text::MappingReader& in, std::string_view key, TowerFile& file) {
    std::vector<int> widths;
    if (!in.wholes(key, widths, 1, kWidest)) return;
    if (widths.size() < 2 || widths.size() > kMostWidths)
        return in.complain(
            key, fmt::format("a projector has 2 to {} widths, with a GEMM between each two",
                             kMostWidths));
    for (std::size_t i = 1; i < widths.size(); ++i)
        file.tower.projector.push_back({widths[i - 1], widths[i]});
}

void read_deepstack(text::MappingReader& in, std::string_view key, TowerFile& file) {
    in.wholes(key, file.tower.deepstack, 0, kMostLayers);
}

auto of_tower(auto VisionTower::*member) {
    return [member](TowerFile & file) -> auto& {
        return file.tower.*member;
    };
}

const Fields<TowerFile>& tower_fields() {
    static const Form numbers{text::ListForm{{Form{text::WholeForm{0, kWidest, {}}}}, {}}};
    static const Fields<TowerFile> kFields{
        {"layers", required(whole(&TowerFile::layers, 1, kMostLayers, "layers")), "Layers.", "27"},
        {"hidden", required(whole(of_tower(&VisionTower::hidden), 1, kWidest)),
         "The hidden size of the tower.", "1152"},
        {"heads", required(whole(&TowerFile::heads, 1, kMostHeads, "heads")), "Attention heads.",
         "16"},
        {"head_dim", whole(&TowerFile::head_dim, 0, kWidest), "The head dimension.", "72",
         "hidden / heads"},
        {"ffn", required(whole(&TowerFile::ffn, 1, kWidestMlp)),
         "The intermediate size of its MLPs.", "4304"},
        {"activation", word(&TowerFile::activation, kActivations), "The activation of its MLPs.",
         "gelu_tanh"},
        {"norm", word(of_tower(&VisionTower::norm), kNorms), "The norm of its layers.",
         "layer_norm"},
        {"norm_position", word(&TowerFile::norm_position, kNormPositions),
         "The norms are before attention and MLP, after them, or both.", "both"},
        {"qk_norm", word(&TowerFile::qk_norm, kQkNorms), "Norms of queries and keys.", "heads"},
        {"value_norm", flag(&TowerFile::value_norm), "Values have a norm without weights.", "true"},
        {"linear_bias", flag(&TowerFile::linear_bias), "The GEMMs of its layers have biases.",
         "false"},
        {"rotary", flag(&TowerFile::rotary), "Queries and keys have two-dimensional RoPE.",
         "false"},
        {"patch_values",
         required(whole(of_tower(&VisionTower::patch_values), 1, kWidestMlp, "numbers")),
         "The number of values per patch: pixels x channels x frames.", "1536"},
        {"patch_bias", flag(of_tower(&VisionTower::patch_bias)), "The patch embedding has a bias.",
         "false"},
        {"positions", whole(of_tower(&VisionTower::positions), 0, kMostPositions, "rows"),
         "The number of learned position embeddings.", "2304"},
        {"class_token", flag(of_tower(&VisionTower::class_token)), "The tower has a class token.",
         "true"},
        {"norm_before", flag(of_tower(&VisionTower::norm_before)), "A norm before the first layer.",
         "true"},
        {"norm_after", flag(of_tower(&VisionTower::norm_after)), "A norm after the last layer.",
         "true"},
        {"merge", whole(of_tower(&VisionTower::merge), 1, kMostPositions, "patches"),
         "The number of patches merged into one token.", "4"},
        {"pools", flag(of_tower(&VisionTower::pools)),
         "A token is the mean of its patches instead of their concatenation.", "true"},
        {"projector_norm", flag(of_tower(&VisionTower::projector_norm)),
         "The projector starts with a norm.", "false"},
        {"projector", required(custom(read_projector, {numbers})),
         "The layer sizes of the projector, from the size of its input to that of the model.",
         "[4608, 4608, 4096]"},
        {"projector_bias", flag(of_tower(&VisionTower::projector_bias)),
         "The GEMMs of the projector have biases.", "false"},
        {"deepstack", custom(read_deepstack, {numbers}),
         "The tower's layers (from 0) whose features are added after the first layers of the model "
         "(DeepStack).",
         "[8, 16, 24]", "none"},
        {"cut", flag(of_tower(&VisionTower::cut)),
         "Tensor parallelism shards the tower; otherwise each rank has a full copy.", "false"}};
    return kFields;
}

/// The keys next to the map, for a network with a tower.
const Fields<VisionTower>& use_fields() {
    static const Fields<VisionTower> kFields{
        {"images", whole(&VisionTower::images, 1, 1'000'000, "images"),
         "The number of images per sample, for a model with a vision tower.", "4"},
        {"image_tokens", whole(&VisionTower::image_tokens, 1, kMostPositions, "tokens"),
         "The number of tokens per image in the sequence.", "1024",
         "the value of the model's file"},
        {"freeze_vision_model", flag(&VisionTower::frozen),
         "The vision tower is frozen (as in Megatron-Bridge).", "true"},
        {"freeze_vision_projection", flag(&VisionTower::frozen_projector),
         "The projector is frozen (as in Megatron-Bridge).", "true"}};
    return kFields;
}

constexpr std::string_view kTextAlone = "language_model_only";

Layer layer_of(const TowerFile& file) {
    Attention attention{file.heads, file.heads, file.head_dim};
    attention.value_dim = file.head_dim;
    attention.qkv_bias = attention.output_bias = file.linear_bias;
    attention.rotary = file.rotary;
    attention.qk_norm = file.qk_norm;
    attention.value_norm = file.value_norm;
    Layer layer;
    layer.mixer = attention;
    layer.mlp = DenseMlp{file.ffn, file.activation, file.linear_bias};
    layer.norms = file.norm_position;
    return layer;
}

}  // namespace

void read_tower(text::MappingReader& model, std::string_view key, Architecture& network) {
    const text::NodePtr map = model.value(key);
    if (!map) return;
    text::MappingReader in(map, key, model.mistakes());
    TowerFile file;
    read_fields(in, tower_fields(), file);
    in.finish();
    VisionTower& tower = file.tower;
    if (file.head_dim == 0) file.head_dim = std::max<std::int64_t>(1, tower.hidden / file.heads);
    tower.layers = Layers(layer_of(file), file.layers);
    if (!in.good()) return;
    if (!tower.projector.empty() && tower.projector.back().outputs != network.hidden)
        in.complain(
            "projector",
            fmt::format("the projector ends with {} columns, but the model's hidden size is {}",
                        tower.projector.back().outputs, network.hidden));
    for (const int layer : tower.deepstack)
        if (layer >= file.layers)
            in.complain("deepstack", fmt::format("layer {} is not one of the tower's {} (from 0)",
                                                 layer, file.layers));
    network.tower = std::move(tower);
}

text::Form tower_form() {
    return Form{text::MapForm{described(tower_fields())}};
}

void read_tower_use(text::MappingReader& model, Architecture& network) {
    bool text_alone = false;
    model.flag(kTextAlone, text_alone);
    if (text_alone && network.tower) {
        network.tower.reset();
        network.left_out.emplace_back("without its vision tower");
    }
    VisionTower nothing;
    read_fields(model, use_fields(), network.tower ? *network.tower : nothing);
    if (network.tower || text_alone) return;
    for (const text::Field<VisionTower>& field : use_fields())
        if (model.has(field.name)) model.complain(field.name, "the model has no vision tower");
}

std::vector<text::Key> tower_use_keys() {
    std::vector<text::Key> keys = described(use_fields());
    keys.push_back({std::string(kTextAlone),
                    {Form{text::FlagForm{}}},
                    "The vision tower is omitted; samples are text only.",
                    "true",
                    "false"});
    return keys;
}

void add_tower(nlohmann::ordered_json& json, const VisionTower& tower) {
    const auto spelled = [](const auto& value, const auto& words) {
        const auto same = [&](const auto& entry) { return entry.second == value; };
        return std::find_if(std::begin(words), std::end(words), same)->first;
    };
    const Layer& layer = tower.layers[0];
    const auto& attention = *layer.as<Attention>();
    const auto& mlp = *layer.as<DenseMlp>();
    std::vector<std::int64_t> widths;
    for (const VisionTower::Product& product : tower.projector) {
        if (widths.empty()) widths.push_back(product.inputs);
        widths.push_back(product.outputs);
    }
    json["vision"] = {{"layers", tower.layers.count()},
                      {"hidden", tower.hidden},
                      {"heads", attention.heads},
                      {"head_dim", attention.head_dim},
                      {"ffn", mlp.ffn},
                      {"activation", spelled(mlp.activation, kActivations)},
                      {"norm", spelled(tower.norm, kNorms)},
                      {"norm_position", spelled(layer.norms, kNormPositions)},
                      {"qk_norm", spelled(attention.qk_norm, kQkNorms)},
                      {"value_norm", attention.value_norm},
                      {"linear_bias", mlp.bias},
                      {"rotary", attention.rotary},
                      {"patch_values", tower.patch_values},
                      {"patch_bias", tower.patch_bias},
                      {"positions", tower.positions},
                      {"class_token", tower.class_token},
                      {"norm_before", tower.norm_before},
                      {"norm_after", tower.norm_after},
                      {"merge", tower.merge},
                      {"pools", tower.pools},
                      {"projector_norm", tower.projector_norm},
                      {"projector", widths},
                      {"projector_bias", tower.projector_bias},
                      {"cut", tower.cut}};
    if (!tower.deepstack.empty()) json["vision"]["deepstack"] = tower.deepstack;
    json["images"] = tower.images;
    json["image_tokens"] = tower.image_tokens;
    if (tower.frozen) json["freeze_vision_model"] = true;
    if (tower.frozen_projector) json["freeze_vision_projection"] = true;
}

bool is_of_tower(const std::string& parameter) {
    return parameter.starts_with("model.visual.");
}

}  // namespace debubble::models
