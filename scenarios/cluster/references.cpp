#include "scenarios/cluster/fields.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace debubble::scenarios {
namespace {

using text::Mistakes;
using text::Node;
using text::NodePtr;

constexpr std::string_view kAs = "as";
constexpr std::string_view kReferringParts[] = {"gpu", "node_link", "network"};

bool refers(const NodePtr& value) {
    return value && value->is(Node::Kind::Map) && value->find(kAs) != nullptr;
}

NodePtr part_named(const NodePtr& cluster, std::string_view part) {
    const NodePtr map = cluster->get(part);
    return map && map->is(Node::Kind::Map) ? map : nullptr;
}

/// A value with the clusters from which it was taken, the last of which has it.
struct Referred {
    NodePtr value;
    std::vector<std::string> clusters;
    NodePtr origins;  ///< of the last
};

class ReferenceSearch {
public:
    ReferenceSearch(text::ShippedFiles& shipped, Mistakes& mistakes)
        : shipped_(shipped), mistakes_(mistakes) {}

    Referred find(std::string_view part, std::string_view key, NodePtr value) {
        Referred found;
        while (refers(value)) {
            const NodePtr name = value->get(kAs);
            if (value->entries.size() > 1 || !name->is(Node::Kind::Scalar)) {
                mistakes_.add(
                    value->place,
                    fmt::format("'{}.{}' must be a value, or only 'as' with the name of a cluster",
                                part, key));
                return {};
            }
            if (std::ranges::find(found.clusters, name->scalar) != found.clusters.end()) {
                mistakes_.add(
                    name->place,
                    fmt::format(
                        "'{}.{}' refers to itself: as {}, as {}; one of them must have a value",
                        part, key, fmt::join(found.clusters, ", as "), name->scalar));
                return {};
            }
            found.clusters.push_back(name->scalar);
            const NodePtr cluster =
                shipped_.resolve(name, "cluster", "scenarios/clusters", mistakes_);
            if (!cluster) return {};
            const NodePtr map = part_named(cluster, part);
            value = map ? map->get(key) : nullptr;
            if (!value) {
                mistakes_.add(name->place, fmt::format("cluster '{}' has no '{}.{}'; give a value",
                                                       name->scalar, part, key));
                return {};
            }
            found.origins = cluster->get("origins");
        }
        found.value = std::move(value);
        return found;
    }

private:
    text::ShippedFiles& shipped_;
    Mistakes& mistakes_;
};

Cluster::Origin origin_referred(const Referred& found, const std::string& key) {
    Mistakes of_another_file;
    const Origins theirs = read_origins(found.origins, of_another_file);
    const auto said = theirs.of.find(key);
    std::string source = "as in " + found.clusters.back() + ", not found on this machine";
    if (said != theirs.of.end())
        source += fmt::format(" ({}: {})", name_of(said->second.provenance), said->second.source);
    return {Provenance::Assumed, std::move(source)};
}

}  // namespace

bool may_refer(std::string_view part) {
    return std::ranges::find(kReferringParts, part) != std::end(kReferringParts);
}

WithReferences with_references(const NodePtr& cluster, text::ShippedFiles& shipped,
                               Mistakes& mistakes) {
    WithReferences all{cluster, {}};
    ReferenceSearch search(shipped, mistakes);
    for (const std::string_view part : kReferringParts) {
        const NodePtr map = part_named(cluster, part);
        if (!map || std::ranges::none_of(map->entries, refers, &Node::Entry::value)) continue;
        std::vector<Node::Entry> entries = map->entries;
        for (Node::Entry& entry : entries) {
            if (!refers(entry.value)) continue;
            const Referred found = search.find(part, entry.key, entry.value);
            if (!found.value) continue;
            entry.value = found.value;
            const std::string key = fmt::format("{}.{}", part, entry.key);
            all.origins[key] = origin_referred(found, key);
        }
        std::vector<Node::Entry> parts = all.map->entries;
        for (Node::Entry& entry : parts)
            if (entry.key == part) entry.value = text::make_map(std::move(entries), map->place);
        all.map = text::make_map(std::move(parts), cluster->place);
    }
    return all;
}

}  // namespace debubble::scenarios
