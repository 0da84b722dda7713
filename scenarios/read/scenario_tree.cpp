#include "scenarios/read/scenario_tree.h"

#include <algorithm>

#include <fmt/format.h>

#include "text/document.h"
#include "text/document_readers.h"
#include "text/mapping_reader.h"

namespace debubble::scenarios {
namespace {

using text::Mistakes;
using text::Node;
using text::NodePtr;

constexpr int kDeepestInclude = 8;
constexpr std::size_t kMostValues = 100'000;

constexpr int kMostIncludes = 256;  ///< limit of all, since files may include files that include
                                    ///< others

NodePtr with_includes(const NodePtr& root, text::ShippedFiles& shipped, int depth, int& budget);

/// One included scenario, without the keys that belong to its file alone.
NodePtr included(const NodePtr& word, text::ShippedFiles& shipped, int depth, int& budget,
                 Mistakes& mistakes) {
    if (!word->is(Node::Kind::Scalar)) {
        mistakes.add(word->place, fmt::format("'include' must list names of scenarios, not {}",
                                              describe(*word)));
        return nullptr;
    }
    if (depth >= kDeepestInclude) {
        mistakes.add(word->place,
                     fmt::format("includes are nested deeper than {}; do they form a cycle?",
                                 kDeepestInclude));
        return nullptr;
    }
    if (--budget < 0) {
        mistakes.add(word->place, fmt::format("more than {} files are included", kMostIncludes));
        mistakes.throw_if_any();
    }
    const NodePtr tree = shipped.resolve(word, "scenario", "scenarios", mistakes);
    if (!tree) return nullptr;
    const NodePtr whole = with_includes(tree, shipped, depth + 1, budget);
    return text::without(text::without(whole, "name"), "description");
}

NodePtr with_includes(const NodePtr& root, text::ShippedFiles& shipped, int depth, int& budget) {
    if (!root->is(Node::Kind::Map)) return root;
    const NodePtr include = root->get("include");
    if (!include || include->is(Node::Kind::Null)) return root;
    Mistakes mistakes;
    const std::vector<NodePtr> one{include};
    NodePtr under;
    for (const NodePtr& word : include->is(Node::Kind::List) ? include->items : one) {
        const NodePtr next = included(word, shipped, depth, budget, mistakes);
        if (next) under = under ? text::merged_maps(*under, *next) : next;
        if (under && under->expanded_size > kMostValues) {
            mistakes.add(word->place,
                         fmt::format("includes make more than {} values", kMostValues));
            break;
        }
    }
    mistakes.throw_if_any();
    const NodePtr own = text::without(root, "include");
    return under ? text::merged_maps(*under, *own) : own;
}

/// A plain word needs no YAML parser: a grid of thousands of points consists of them.
NodePtr parse_value(const std::string& value, const text::SourcePosition& place) {
    if (text::is_plain_word(value)) return text::make_scalar(value, place);
    return text::parse_yaml_value(value, place);
}

}  // namespace

NodePtr with_includes(const NodePtr& root, text::ShippedFiles& shipped) {
    int budget = kMostIncludes;
    return with_includes(root, shipped, 0, budget);
}

NodePtr with_overrides(NodePtr root, const std::vector<Override>& overrides) {
    for (const auto& [key, value] : overrides) {
        const auto source =
            std::make_shared<const text::SourceText>(text::SourceText{"--set", key + "=" + value});
        const text::SourcePosition of_value{source, 1, static_cast<int>(key.size()) + 2};
        root = text::with_value(root, key, parse_value(value, of_value), {source, 1, 1});
    }
    return root;
}

}  // namespace debubble::scenarios
