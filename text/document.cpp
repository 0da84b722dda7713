#include "text/document.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace debubble::text {
namespace {

constexpr std::size_t kMistakesShown = 50;
constexpr int kLongestPath = 16;

bool is_choice(const Node& map) {
    return map.find("name") != nullptr || map.find("csv") != nullptr;
}

/// The key that holds a scalar when its parent key is written as a map.
std::string_view long_form(std::string_view key) {
    constexpr std::array<std::string_view, 5> kBased{"model", "cluster", "framework", "precision",
                                                     "reliability"};
    return std::ranges::find(kBased, key) != kBased.end() ? "base" : "name";
}

NodePtr set(const NodePtr& node, std::string_view key_of_node, std::string_view path,
            const NodePtr& value, const SourcePosition& place, int depth) {
    if (depth > kLongestPath)
        throw InputError({{location_of(place), "the key has too many dots", line_at(place)}});
    const auto complain = [&](std::string message) {
        throw InputError({{location_of(place), std::move(message), line_at(place)}});
    };
    const std::string_view key = path.substr(0, path.find('.'));
    const bool last = key.size() == path.size();
    if (key.empty()) complain("a key is missing; write it as parallel.tensor=8");

    std::vector<Node::Entry> entries;
    if (node && node->is(Node::Kind::List)) complain(fmt::format("'{}' is a list", key_of_node));
    if (node && node->is(Node::Kind::Map)) entries = node->entries;
    if (node && node->is(Node::Kind::Scalar) && depth > 0)
        entries.push_back({std::string(long_form(key_of_node)), node->place, node});

    auto entry = std::ranges::find(entries, key, &Node::Entry::key);
    if (entry == entries.end())
        entry = entries.insert(entries.end(), {std::string(key), place, nullptr});
    entry->place = place;
    entry->value =
        last ? value : set(entry->value, key, path.substr(key.size() + 1), value, place, depth + 1);
    const bool stays = node && (depth == 0 || node->is(Node::Kind::Map));
    return make_map(std::move(entries), stays ? node->place : place);
}

}  // namespace

const Node::Entry* Node::find(std::string_view key) const {
    const auto entry = std::ranges::find(entries, key, &Entry::key);
    return entry == entries.end() ? nullptr : &*entry;
}

NodePtr Node::get(std::string_view key) const {
    const Entry* entry = find(key);
    return entry == nullptr ? nullptr : entry->value;
}

std::string describe(const Node& node) {
    switch (node.kind) {
        case Node::Kind::Null: return "nothing";
        case Node::Kind::List: return "a list";
        case Node::Kind::Map: return "a map";
        case Node::Kind::Scalar: break;
    }
    constexpr std::size_t kLongest = 60;
    if (node.scalar.size() <= kLongest) return fmt::format("'{}'", node.scalar);
    return fmt::format("'{}...'", node.scalar.substr(0, kLongest));
}

NodePtr make_scalar(std::string text, SourcePosition place) {
    auto node = std::make_shared<Node>();
    node->kind = Node::Kind::Scalar;
    node->scalar = std::move(text);
    node->place = std::move(place);
    return node;
}

NodePtr make_map(std::vector<Node::Entry> entries, SourcePosition place) {
    auto node = std::make_shared<Node>();
    node->kind = Node::Kind::Map;
    node->entries = std::move(entries);
    node->place = std::move(place);
    for (const Node::Entry& entry : node->entries)
        node->expanded_size += entry.value->expanded_size;
    return node;
}

NodePtr merged(const NodePtr& under, const NodePtr& over) {
    if (!over) return under;
    if (!under || !under->is(Node::Kind::Map) || !over->is(Node::Kind::Map) || is_choice(*over))
        return over;
    return merged_maps(*under, *over);
}

NodePtr merged_deeply(const Node& under, const Node& over) {
    std::vector<Node::Entry> entries = under.entries;
    for (const Node::Entry& entry : over.entries) {
        const auto below = std::ranges::find(entries, entry.key, &Node::Entry::key);
        if (below == entries.end()) {
            entries.push_back(entry);
            continue;
        }
        if (entry.value->is(Node::Kind::Null)) continue;
        const bool both = below->value->is(Node::Kind::Map) && entry.value->is(Node::Kind::Map);
        *below = {entry.key, entry.place,
                  both ? merged_deeply(*below->value, *entry.value) : entry.value};
    }
    return make_map(std::move(entries), over.place);
}

NodePtr merged_maps(const Node& under, const Node& over) {
    std::vector<Node::Entry> entries = under.entries;
    for (const Node::Entry& entry : over.entries) {
        const auto below = std::ranges::find(entries, entry.key, &Node::Entry::key);
        if (below == entries.end())
            entries.push_back(entry);
        else
            *below = {entry.key, entry.place, merged(below->value, entry.value)};
    }
    return make_map(std::move(entries), over.place);
}

NodePtr without(const NodePtr& map, std::string_view key) {
    std::vector<Node::Entry> entries = map->entries;
    std::erase_if(entries, [&](const Node::Entry& entry) { return entry.key == key; });
    return make_map(std::move(entries), map->place);
}

NodePtr at(const NodePtr& map, std::string_view path) {
    NodePtr node = map;
    while (node && node->is(Node::Kind::Map)) {
        const std::size_t dot = path.find('.');
        node = node->get(path.substr(0, dot));
        if (dot == std::string_view::npos) return node;
        path.remove_prefix(dot + 1);
    }
    return nullptr;
}

NodePtr with_value(const NodePtr& root, std::string_view path, NodePtr value,
                   const SourcePosition& place) {
    return set(root, {}, path, value, place, 0);
}

SourceLocation location_of(const SourcePosition& place) {
    return {place.source->file, place.line, place.column};
}

std::string line_at(const SourcePosition& place) {
    return line_of(place.source->text, place.line - place.source->first_line + 1);
}

void Mistakes::add(const SourcePosition& place, std::string message, Diagnostic::Kind kind) {
    if (found_.size() >= kMistakesShown) {
        more_ = true;
    } else if (!place.source) {
        found_.push_back({{}, std::move(message), {}, kind});
    } else {
        found_.push_back({location_of(place), std::move(message), line_at(place), kind});
    }
}

void Mistakes::add(std::string message) {
    add(SourcePosition{}, std::move(message));
}

void Mistakes::add(const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) {
        if (found_.size() < kMistakesShown)
            found_.push_back(diagnostic);
        else
            more_ = true;
    }
}

void Mistakes::throw_if_any() const {
    if (found_.empty()) return;
    auto all = found_;
    if (more_)
        all.push_back({all.back().where,
                       fmt::format("there are more mistakes than these {}", kMistakesShown),
                       all.back().source_line});
    throw InputError(std::move(all));
}

}  // namespace debubble::text
