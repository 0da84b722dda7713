#include "models/layer_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/architecture_check.h"
#include "models/architecture_limits.h"
#include "models/architecture_words.h"
#include "text/fields.h"

namespace debubble::models {
namespace {

using text::custom;
using text::Fields;
using text::flag;
using text::Form;
using text::real;
using text::whole;
using text::word;

constexpr int kDeepest = 4;  ///< lists of groups inside each other

/// What a layer's keys are read into, and what decides the values of keys that are not given.
struct LayerFile {
    LayerKeys keys;
    Positions positions = Positions::None;
    std::int64_t hidden = 1;
};

/// Precondition: `heads` has been read.
void read_head_dim(text::MappingReader& in, std::string_view key, LayerFile& file) {
    LayerKeys& keys = file.keys;
    if (in.whole(key, keys.head_dim, 1, kWidest) || !in.has("heads")) return;
    keys.head_dim = std::max<std::int64_t>(1, file.hidden / keys.heads);
    if (in.good() && !in.has("latent_attention") && file.hidden % keys.heads != 0)
        in.complain("heads", fmt::format("{} heads do not divide the {} of 'hidden'; give "
                                         "'head_dim' if that is intended",
                                         keys.heads, file.hidden));
}

/// Precondition: `heads` has been read.
void read_kv_heads(text::MappingReader& in, std::string_view key, LayerFile& file) {
    if (in.has("heads")) file.keys.kv_heads = file.keys.heads;
    in.whole(key, file.keys.kv_heads, 1, kMostHeads);
}

/// Precondition: `experts` has been read.
void read_experts_per_token(text::MappingReader& in, std::string_view key, LayerFile& file) {
    LayerKeys& keys = file.keys;
    if (in.whole(key, keys.experts_per_token, 1, kMostExperts) && keys.experts == 0)
        in.complain(key, "the model has no 'experts' for them");
}

auto of_keys(auto LayerKeys::*member) {
    return [member](LayerFile & file) -> auto& {
        return file.keys.*member;
    };
}

const Fields<RopeScaling>& scaling_fields() {
    static const Fields<RopeScaling> kFields{
        {"type", text::required(word(&RopeScaling::kind, kRopeScalings)),
         "How angles are changed, by transformers' words.", "yarn"},
        {"factor", text::required(real(&RopeScaling::factor, 1, 1e6)),
         "How many times longer texts may be.", "8"},
        {"original_positions", whole(&RopeScaling::original_positions, 1, kMostPositions, "tokens"),
         "The longest text of the training before the change.", "8192"},
        {"low_frequency_factor", real(&RopeScaling::low_frequency_factor, 0, 1e6),
         "Of llama3: wavelengths above original_positions over this are divided by the factor.",
         "1"},
        {"high_frequency_factor", real(&RopeScaling::high_frequency_factor, 0, 1e6),
         "Of llama3: wavelengths below original_positions over this stay.", "4"},
        {"beta_fast", real(&RopeScaling::beta_fast, 0, 1e6),
         "Of yarn: angles that turn more often than this over original_positions stay.", "32"},
        {"beta_slow", real(&RopeScaling::beta_slow, 0, 1e6),
         "Of yarn: angles that turn less often than this are divided by the factor.", "1"},
        {"mscale", real(&RopeScaling::mscale, 0, 1e6),
         "Of yarn, as DeepSeek uses it: the factor in the scale of the scores.", "1", "0: none"}};
    return kFields;
}

void read_rope_scaling(text::MappingReader& in, std::string_view key, LayerFile& file) {
    const text::NodePtr map = in.value(key);
    if (!map) return;
    text::MappingReader inner(map, key, in.mistakes());
    file.keys.rope_scaling.emplace();
    read_fields(inner, scaling_fields(), *file.keys.rope_scaling);
    inner.finish();
}

struct LatentFile {
    LatentAttention latent;
    std::int64_t head_dim = 1;
    std::int64_t value_dim = 1;
};

const Fields<LatentFile>& latent_fields() {
    static const Fields<LatentFile> kFields{
        {"query_rank",
         whole(
             [](LatentFile & f) -> auto& { return f.latent.query_rank; }, 0, kWidest),
         "The width of the value from which queries are made; 0: they are made from the hidden "
         "state.",
         "1536", "0"},
        {"key_rank",
         text::required(whole(
             [](LatentFile & f) -> auto& { return f.latent.key_rank; }, 1, kWidest)),
         "The width of the value from which keys and values are made.", "512"},
        {"head_dim", text::required(whole(&LatentFile::head_dim, 1, kWidest)),
         "The columns of a head's queries and keys that are not rotated.", "128"},
        {"rope_dim",
         text::required(whole(
             [](LatentFile & f) -> auto& { return f.latent.rope_dim; }, 1, kWidest)),
         "The columns that are rotated, which all keys of a token share.", "64"},
        {"value_dim", text::required(whole(&LatentFile::value_dim, 1, kWidest)),
         "The width of a head's values.", "128"}};
    return kFields;
}

/// Precondition: heads and head_dim have been read.
void read_latent(text::MappingReader& in, std::string_view key, LayerFile& file) {
    const text::NodePtr map = in.value(key);
    if (!map) return;
    text::MappingReader inner(map, key, in.mistakes());
    LatentFile latent;
    read_fields(inner, latent_fields(), latent);
    inner.finish();
    LayerKeys& keys = file.keys;
    keys.latent = latent.latent;
    keys.kv_heads = keys.heads;
    keys.head_dim = latent.head_dim + latent.latent.rope_dim;
    keys.value_dim = latent.value_dim;
    for (const std::string_view other : {"kv_heads", "head_dim"})
        if (in.has(other))
            in.complain(other, fmt::format("latent attention has no '{}' beside its own", other));
}

const Fields<LayerFile>& layer_fields() {
    static const Fields<LayerFile> kFields{
        {"heads", whole(of_keys(&LayerKeys::heads), 1, kMostHeads, "heads"),
         "Attention heads of a layer.", "32", "required"},
        {"kv_heads", custom(read_kv_heads, {Form{text::WholeForm{1, kMostHeads, "heads"}}}),
         "Heads of keys and values (grouped-query attention).", "8", "heads"},
        {"head_dim", custom(read_head_dim, {Form{text::WholeForm{1, kWidest, {}}}}),
         "The width of a head.", "128", "hidden / heads"},
        {"ffn", whole(of_keys(&LayerKeys::ffn), 1, kWidestMlp),
         "The inner width of the MLP, or of an expert; the width of each half if it is gated.",
         "14336", "4 x hidden"},
        {"experts", whole(of_keys(&LayerKeys::experts), 0, kMostExperts, "experts"),
         "MLPs of a layer that a router chooses from; 0 is one MLP for every token.", "8", "0"},
        {"experts_per_token",
         custom(read_experts_per_token, {Form{text::WholeForm{1, kMostExperts, "experts"}}}),
         "Experts that the router chooses for a token.", "2", "none: with experts it is required"},
        {"activation", word(of_keys(&LayerKeys::activation), kActivations),
         "The MLP's activation; swiglu is gated.", "swiglu"},
        {"positions", word(&LayerFile::positions, kPositions),
         "How positions are told: a learned table, rotated queries and keys, or not at all.",
         "rope"},
        {"linear_bias", flag(of_keys(&LayerKeys::linear_bias)),
         "The projections of attention and MLP have biases.", "false"},
        {"qkv_bias", flag(of_keys(&LayerKeys::qkv_bias)),
         "The products of queries, keys and values have biases, whatever the others have.", "true",
         "linear_bias"},
        {"rotary_dim", whole(of_keys(&LayerKeys::rotary_dim), 2, kWidest),
         "The columns of a head that are rotated.", "64", "all of them"},
        {"rope_scaling",
         custom(read_rope_scaling, {Form{text::MapForm{described(scaling_fields())}}}),
         "Rotary positions for longer texts than those of the training.",
         "{type: llama3, factor: 8, original_positions: 8192}", "none"},
        {"qk_norm", word(of_keys(&LayerKeys::qk_norm), kQkNorms),
         "RMS norms of queries and keys before they are rotated: none, or one of every head.",
         "heads"},
        {"window", whole(of_keys(&LayerKeys::window), 1, kMostPositions, "tokens"),
         "A token sees itself and the window - 1 tokens before it.", "4096",
         "none: all tokens before it"},
        {"latent_attention", custom(read_latent, {Form{text::MapForm{described(latent_fields())}}}),
         "Multi-head latent attention: keys and values are made from a narrow value.",
         "{query_rank: 1536, key_rank: 512, head_dim: 128, rope_dim: 64, value_dim: 128}", "none"},
        {"shared_ffn", whole(of_keys(&LayerKeys::shared_ffn), 0, kWidestMlp),
         "The inner width of the experts that every token goes through, of all together.", "2048",
         "0: none"},
        {"router", word(of_keys(&LayerKeys::router), kRouters),
         "The function by which a router scores experts.", "sigmoid"},
        {"mixer", word(of_keys(&LayerKeys::mixer), kMixers),
         "The part of a layer that mixes tokens; none: the layer is an MLP alone, with one norm.",
         "none"},
        {"mlp", flag(of_keys(&LayerKeys::mlp)),
         "The layer has an MLP or experts; without, it only mixes tokens, with one norm.", "false"},
        {"rope_theta", real(of_keys(&LayerKeys::rope_theta), 1, 1e12),
         "The base of the angles of rotary positions.", "500000"}};
    return kFields;
}

const Fields<int>& group_fields() {
    static const Fields<int> kFields{
        {"count", whole([](int& count) -> int& { return count; }, 1, kMostLayers),
         "The number of such layers, or of repetitions of the pattern.", "3", "1"},
        {"pattern", text::part({Form{text::ListForm{{Form{text::MapForm{}}}, {}}}}),
         "A list of groups that is repeated: its elements are maps like this one.",
         "[{count: 5}, {count: 1, rope_theta: 1000000}]", "none: the group is one kind of layer"}};
    return kFields;
}

/// The groups of a list, read one after the other.
struct Groups {
    text::MappingReader& top;
    std::int64_t hidden;
    LayerKeys common;
    Layers layers = {};

    void read(const text::NodePtr& list, std::string_view name, int times, int depth);
    void read_group(const text::NodePtr& item, int depth);
    text::Mistakes& mistakes() const { return top.mistakes(); }
};

void Groups::read(const text::NodePtr& list, std::string_view name, int times, int depth) {
    if (!list->is(text::Node::Kind::List) || list->items.empty()) {
        mistakes().add(list->place, fmt::format("'{}' must be a list of groups of layers, not {}",
                                                name, text::describe(*list)));
        return;
    }
    if (depth > kDeepest) {
        mistakes().add(list->place,
                       fmt::format("patterns lie in each other deeper than {} times", kDeepest));
        return;
    }
    for (int i = 0; i < times; ++i) {
        for (const text::NodePtr& item : list->items) {
            read_group(item, depth);
            if (!top.good()) return;
        }
    }
}

void Groups::read_group(const text::NodePtr& item, int depth) {
    text::MappingReader in(item, "layer_groups", mistakes());
    int count = 1;
    read_fields(in, group_fields(), count);
    if (const text::NodePtr pattern = in.value("pattern")) {
        in.finish();
        if (in.good()) read(pattern, "pattern", count, depth + 1);
        return;
    }
    LayerKeys keys = common;
    read_layer_keys(in, hidden, keys);
    in.finish();
    if (in.good()) check_layer(layer_of(keys), in);
    if (!in.good()) return;
    if (count > kMostLayers - layers.count()) {
        mistakes().add(item->place,
                       fmt::format("the groups have more than {} layers", kMostLayers));
        return;
    }
    layers.append(layer_of(keys), count);
}

/// True if the values stand in different files: a `layers` beside a `base` then cuts its model.
bool in_other_files(const text::Node& a, const text::Node& b) {
    const auto file = [](const text::Node& node) {
        return node.place.source ? node.place.source->file : std::string();
    };
    return file(a) != file(b);
}

}  // namespace

void read_layer_keys(text::MappingReader& in, std::int64_t hidden, LayerKeys& keys) {
    LayerFile file{keys, keys.rotary ? Positions::Rope : Positions::None, hidden};
    const bool without_experts = keys.experts == 0;
    read_fields(in, layer_fields(), file);
    keys = file.keys;
    if (in.has("positions")) keys.rotary = file.positions == Positions::Rope;
    if (without_experts != (keys.experts == 0) && keys.experts > 0) in.demand("experts_per_token");
}

std::vector<text::Key> described_layer_keys(const LayerKeys& fresh, Positions positions) {
    LayerFile file{fresh, positions, 1};
    return described(layer_fields(), file);
}

Layers read_layers(text::MappingReader& in, int count, std::int64_t hidden,
                   const LayerKeys& common) {
    const text::NodePtr list = in.value("layer_groups");
    if (!list) return {layer_of(common), count};
    Groups groups{in, hidden, common};
    groups.read(list, "layer_groups", 1, 1);
    if (!in.good()) return {layer_of(common), count};
    const int listed = groups.layers.count();
    const text::NodePtr asked = in.value("layers");
    if (asked && listed > count && in_other_files(*asked, *list))
        groups.layers.cut_short(count);
    else if (listed != count)
        in.complain("layer_groups",
                    fmt::format("the groups have {} layers, and 'layers' is {}", listed, count));
    return std::move(groups.layers);
}

text::Key layer_groups_key() {
    std::vector<text::Key> keys;
    int count = 1;
    for (text::Key& key : described(group_fields(), count)) keys.push_back(std::move(key));
    LayerKeys fresh;
    for (text::Key& key : described_layer_keys(fresh, Positions::Rope)) {
        key.otherwise = "that of the model";
        keys.push_back(std::move(key));
    }
    return {
        "layer_groups",
        {Form{text::ListForm{{Form{text::MapForm{std::move(keys)}}}, {}}}},
        "The layers in order, where they differ: groups, each with the keys in which it differs "
        "from the model's.",
        "[{count: 1, experts: 0, ffn: 10944}, {count: 26}]",
        "all layers are alike"};
}

}  // namespace debubble::models
