#include "scenarios/plan/given_keys.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/sha256.h"
#include "text/document.h"

namespace debubble::scenarios {
namespace {

using text::Node;
using text::NodePtr;

constexpr std::size_t kLongestValue = 200;  ///< characters; a longer one is told by its hash
constexpr std::size_t kMostKeys = 64;       ///< of a part; more are told by one hash
constexpr std::string_view kPlansNothing[] = {"name",    "description", "published", "sweep",
                                              "include", "model",       "cluster",   "framework"};
/// Of a model, cluster or framework.
constexpr std::string_view kNoFigures[] = {"name", "source", "description"};

std::string digest(std::string_view text) {
    return "sha256 " + sha256(text).substr(0, 12);
}

std::string short_value(const Node& node) {
    std::string value = node.is(Node::Kind::Scalar) ? node.scalar : text::to_flow(node);
    return value.size() > kLongestValue ? digest(value) : value;
}

void flatten(const Node& node, const std::string& path, GivenKeys& keys) {
    if (node.is(Node::Kind::Null)) return;
    if (!node.is(Node::Kind::Map) || node.entries.empty()) {
        keys.emplace(path, short_value(node));
        return;
    }
    for (const Node::Entry& entry : node.entries)
        flatten(*entry.value, path.empty() ? entry.key : path + '.' + entry.key, keys);
}

template <std::size_t N>
bool is_one_of(std::string_view word, const std::string_view (&words)[N]) {
    return std::ranges::find(words, word) != std::end(words);
}

/// One hash of all keys where there are too many to list.
GivenKeys listed_or_hashed(GivenKeys keys, const std::string& part) {
    if (keys.size() <= kMostKeys) return keys;
    std::string all;
    for (const auto& [key, value] : keys) all += fmt::format("{}: {}\n", key, value);
    return {{part, fmt::format("{} keys, {}", keys.size(), digest(all))}};
}

GivenKeys keys_of_part(const NodePtr& map, const std::string& part) {
    GivenKeys keys;
    for (const Node::Entry& entry : map->entries)
        if (!is_one_of(entry.key, kNoFigures)) flatten(*entry.value, part + '.' + entry.key, keys);
    return keys;
}

}  // namespace

GivenKeys keys_given_in(const Node& scenario) {
    GivenKeys keys;
    for (const Node::Entry& entry : scenario.entries) {
        if (is_one_of(entry.key, kPlansNothing)) continue;
        GivenKeys inside;
        flatten(*entry.value, entry.key, inside);
        keys.merge(listed_or_hashed(std::move(inside), entry.key));
    }
    return keys;
}

GivenKeys keys_changed_in(const NodePtr& value, const std::string& part, const std::string& folder,
                          text::ShippedFiles& shipped) {
    text::Mistakes ignored;  // whoever reads the part reports them
    const NodePtr base = shipped.foundation(value, part, folder);
    const NodePtr whole = shipped.resolve(value, part, folder, ignored);
    if (!whole || whole == base) return {};
    GivenKeys keys = keys_of_part(whole, part);
    if (base) {
        const GivenKeys under = keys_of_part(base, part);
        std::erase_if(keys, [&](const auto& key) {
            const auto at = under.find(key.first);
            return at != under.end() && at->second == key.second;
        });
    }
    return listed_or_hashed(std::move(keys), part);
}

}  // namespace debubble::scenarios
