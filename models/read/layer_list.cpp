#include "models/read/layer_reader.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "models/network/architecture_limits.h"

namespace debubble::models {
namespace {

using text::Mistakes;
using text::Node;
using text::NodePtr;
using Entries = std::vector<Node::Entry>;

constexpr std::string_view kLatentKeys[] = {"query_rank", "key_rank", "head_dim", "rope_dim",
                                            "value_dim"};

/// A kind of mixer for the reader: its word and the map with its sizes.
struct MixerWord {
    std::string_view kind;
    const char* mixer;
    const char* sizes;  ///< null: they are direct keys
};
constexpr MixerWord kMixerWords[] = {
    {"mha", "attention", nullptr}, {"gqa", "attention", nullptr},
    {"mqa", "attention", nullptr}, {"mla", "attention", "latent_attention"},
    {"mamba2", "mamba", "mamba"},  {"gated_delta_net", "delta_net", "delta_net"},
    {"none", "none", nullptr}};

Node::Entry entry(std::string key, NodePtr value) {
    const text::SourcePosition place = value->place;
    return {std::move(key), place, std::move(value)};
}

NodePtr scalar(std::string text, const text::SourcePosition& place) {
    return text::make_scalar(std::move(text), place);
}

/// The `kind` of a part, and its other keys.
std::optional<std::string> take_kind(const Node::Entry& part, Entries& others, Mistakes& mistakes) {
    std::optional<std::string> kind;
    for (const Node::Entry& each : part.value->entries)
        if (each.key == "kind" && each.value->is(Node::Kind::Scalar))
            kind = each.value->scalar;
        else
            others.push_back(each);
    if (!kind) mistakes.add(part.value->place, fmt::format("'{}' needs a 'kind'", part.key));
    return kind;
}

bool lies_within(std::string_view key, const MixerWord& word) {
    if (word.sizes == nullptr) return false;
    if (word.kind != "mla") return true;
    return std::ranges::find(kLatentKeys, key) != std::end(kLatentKeys);
}

void add_attention(const Node::Entry& part, Entries& group, Mistakes& mistakes) {
    Entries keys;
    const auto kind = take_kind(part, keys, mistakes);
    if (!kind) return;
    const auto* word = std::ranges::find(kMixerWords, *kind, &MixerWord::kind);
    if (word == std::end(kMixerWords))
        return mistakes.add(
            part.value->place,
            fmt::format(
                "attention must be mha, gqa, mqa, mla, mamba2, gated_delta_net or none, not '{}'",
                *kind));
    group.push_back(entry("mixer", scalar(word->mixer, part.value->place)));
    Entries inside;
    for (Node::Entry& key : keys) (lies_within(key.key, *word) ? inside : group).push_back(key);
    if (word->sizes != nullptr)
        group.push_back(entry(word->sizes, text::make_map(std::move(inside), part.value->place)));
}

void add_mlp(const Node::Entry& part, Entries& group, Mistakes& mistakes) {
    Entries keys;
    const auto kind = take_kind(part, keys, mistakes);
    if (!kind) return;
    const auto& place = part.value->place;
    const bool routes =
        std::ranges::any_of(keys, [](const Node::Entry& key) { return key.key == "experts"; });
    if (*kind == "none")
        group.push_back(entry("mlp", scalar("false", place)));
    else if (*kind == "dense" && !routes)
        group.push_back(entry("experts", scalar("0", place)));
    else if (*kind != "moe" || !routes)
        return mistakes.add(
            place, *kind == "moe" || *kind == "dense"
                       ? "'experts' is required for kind moe and not allowed for kind dense"
                       : fmt::format("an mlp must be dense, moe or none, not '{}'", *kind));
    group.insert(group.end(), keys.begin(), keys.end());
}

NodePtr groups_of(const NodePtr& list, Mistakes& mistakes);

NodePtr group_of(const NodePtr& item, Mistakes& mistakes) {
    if (!item->is(Node::Kind::Map)) return item;
    Entries group;
    for (const Node::Entry& part : item->entries) {
        const bool is_map = part.value->is(Node::Kind::Map);
        if (part.key == "attention" && is_map)
            add_attention(part, group, mistakes);
        else if (part.key == "mlp" && is_map)
            add_mlp(part, group, mistakes);
        else if (part.key == "pattern" && part.value->is(Node::Kind::List))
            group.push_back({part.key, part.place, groups_of(part.value, mistakes)});
        else
            group.push_back(part);
    }
    for (auto at = group.begin(); at != group.end(); ++at)
        if (std::any_of(group.begin(), at, [&](const auto& one) { return one.key == at->key; }))
            mistakes.add(at->place,
                         fmt::format("'{}' is given twice in one element of 'layers'", at->key));
    return text::make_map(std::move(group), item->place);
}

NodePtr groups_of(const NodePtr& list, Mistakes& mistakes) {
    Node groups = *list;
    for (NodePtr& item : groups.items) item = group_of(item, mistakes);
    return std::make_shared<const Node>(std::move(groups));
}

/// The layers of a list, at most one more than a network may have; one for an element in which the
/// reader will find a mistake.
int layers_in(const NodePtr& list) {
    int layers = 0;
    for (const NodePtr& group : list->items) {
        int count = 1;
        if (const NodePtr said = group->get("count"); said && said->is(Node::Kind::Scalar))
            std::from_chars(said->scalar.data(), said->scalar.data() + said->scalar.size(), count);
        const NodePtr pattern = group->get("pattern");
        const int each = pattern && pattern->is(Node::Kind::List) ? layers_in(pattern) : 1;
        if (count < 1 || each > (kMostLayers - layers) / count) return kMostLayers + 1;
        layers += count * each;
    }
    return layers;
}

/// The heads of the first element that has some, which the reader asks of the network.
NodePtr heads_of(const NodePtr& groups) {
    for (const NodePtr& group : groups->items) {
        if (const NodePtr heads = group->get("heads")) return heads;
        const NodePtr pattern = group->get("pattern");
        if (!pattern || !pattern->is(Node::Kind::List)) continue;
        if (const NodePtr heads = heads_of(pattern)) return heads;
    }
    return nullptr;
}

}  // namespace

NodePtr with_layer_groups(const NodePtr& map, Mistakes& mistakes) {
    const Node::Entry* list = map->find("layers");
    const bool lists = list != nullptr && list->value->is(Node::Kind::List);
    if (!lists && map->find("mtp") == nullptr) return map;
    // A list replaces the groups of a `base`; groups in the same file would be lost.
    const Node::Entry* beside = map->find("layer_groups");
    if (lists && beside != nullptr && beside->place.source == list->place.source)
        mistakes.add(beside->place, "'layer_groups' cannot be combined with a list of 'layers'");
    const NodePtr groups = lists ? groups_of(list->value, mistakes) : nullptr;
    // Those of a `base` give way, too, whichever word it has for them.
    const Node::Entry* mtp = map->find("mtp");
    const Node::Entry* mtp_layers = map->find("mtp_layers");
    const bool says_mtp =
        mtp != nullptr && (mtp_layers == nullptr || mtp_layers->place.source != mtp->place.source);
    Entries keys;
    for (const Node::Entry& each : map->entries) {
        if (says_mtp && &each == mtp_layers) continue;
        if (says_mtp && &each == mtp) {
            keys.push_back({"mtp_layers", each.place, each.value});
        } else if (lists && &each == list) {
            keys.push_back({"layer_groups", each.place, groups});
            keys.push_back(
                entry("layers", scalar(std::to_string(layers_in(groups)), each.value->place)));
        } else if (!lists || each.key != "layer_groups") {
            keys.push_back(each);
        }
    }
    if (const NodePtr heads = lists ? heads_of(groups) : nullptr;
        heads && map->find("heads") == nullptr)
        keys.push_back(entry("heads", heads));
    return text::make_map(std::move(keys), map->place);
}

}  // namespace debubble::models
