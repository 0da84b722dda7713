#include "models/read/layer_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/network/architecture_limits.h"
#include "models/read/layer_file.h"

namespace debubble::models {
namespace {

using text::Fields;
using text::flag;
using text::Form;
using text::whole;
using text::word;

constexpr int kDeepest = 4;  ///< lists of groups inside each other

/// The parts that a layer has, and how they stand.
const Fields<LayerFile>& part_fields() {
    static const Fields<LayerFile> kFields{
        {"mixer", word(of_keys(&LayerKeys::mixer), kMixers),
         "The token mixer of a layer; none: the layer is only an MLP, with one norm.", "mamba"},
        {"mlp", flag(of_keys(&LayerKeys::mlp)),
         "Whether the layer has an MLP or experts; without, it is only a mixer, with one norm.",
         "false"},
        {"norm_position", word(of_keys(&LayerKeys::norm_position), kNormPositions),
         "The norms are before attention and MLP, after them and before the residual sum, or both.",
         "both"},
        {"parallel_residual", flag(of_keys(&LayerKeys::parallel_residual)),
         "Parallel residual: attention and MLP read the same input and are added in one sum.",
         "true"},
        {"one_norm", flag(of_keys(&LayerKeys::one_norm)),
         "With a parallel residual, attention and MLP share one norm.", "true"},
        {"mamba_beside", flag(of_keys(&LayerKeys::mamba_beside)),
         "The state-space layer of 'mamba' reads attention's input and is added to its output.",
         "true"}};
    return kFields;
}

const Fields<int>& group_fields() {
    static const Fields<int> kFields{
        {"count", whole([](int& count) -> int& { return count; }, 1, kMostLayers),
         "The number of these layers, or of repetitions of the pattern.", "3", "1"},
        {"pattern", text::part({Form{text::ListForm{{Form{text::MapForm{}}}, {}}}}),
         "A list of groups to repeat; its elements are maps like this one.",
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
        mistakes().add(list->place, fmt::format("patterns are nested deeper than {}", kDeepest));
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
    in.inherits(top.mapping());
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

/// True if the values stand in different files: a `layers` next to a `base` then shortens its
/// model.
bool in_other_files(const text::Node& a, const text::Node& b) {
    const auto file = [](const text::Node& node) {
        return node.place.source ? node.place.source->file : std::string();
    };
    return file(a) != file(b);
}

}  // namespace

void read_layer_keys(text::MappingReader& in, std::int64_t hidden, LayerKeys& keys) {
    LayerFile file{keys,
                   keys.rotary  ? Positions::Rope
                   : keys.alibi ? Positions::Alibi
                                : Positions::None,
                   hidden};
    const bool without_experts = keys.experts == 0;
    read_fields(in, attention_fields(), file);
    read_fields(in, mlp_fields(), file);
    read_fields(in, recurrent_fields(), file);
    read_fields(in, part_fields(), file);
    keys = file.keys;
    if (in.has("positions")) {
        keys.rotary = file.positions == Positions::Rope;
        keys.alibi = file.positions == Positions::Alibi;
    }
    const auto needs = [&](MixerKind kind, bool given, const char* map) {
        if (keys.mixer == kind && !given && in.has("mixer"))
            in.complain("mixer", fmt::format("'{0}' needs the key '{0}' with its sizes", map));
    };
    needs(MixerKind::Mamba, keys.mamba.has_value(), "mamba");
    needs(MixerKind::DeltaNet, keys.delta_net.has_value(), "delta_net");
    if (keys.mamba_beside && !keys.mamba && in.has("mamba_beside"))
        in.complain("mamba_beside", "'mamba_beside' needs the key 'mamba' with its sizes");
    if (without_experts != (keys.experts == 0) && keys.experts > 0) in.demand("experts_per_token");
}

std::vector<text::Key> described_layer_keys(const LayerKeys& fresh, Positions positions) {
    LayerFile file{fresh, positions, 1};
    std::vector<text::Key> keys = described(attention_fields(), file);
    for (const auto* fields : {&mlp_fields(), &recurrent_fields(), &part_fields()})
        for (text::Key& key : described(*fields, file)) keys.push_back(std::move(key));
    return keys;
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
                    fmt::format("the groups have {} layers, but 'layers' is {}", listed, count));
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
    return {"layer_groups",
            {Form{text::ListForm{{Form{text::MapForm{std::move(keys)}}}, {}}}},
            "The layers in order, if they differ: groups, each with the keys that differ from the "
            "model's.",
            "[{count: 1, experts: 0, ffn: 10944}, {count: 26}]",
            "all layers are identical"};
}

}  // namespace debubble::models
