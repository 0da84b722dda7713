#include <algorithm>

#include <fmt/format.h>

#include "scenarios/cluster/fields.h"
#include "scenarios/cluster/reader.h"

/// The sources of a cluster's constants.
namespace debubble::scenarios {
namespace {

using text::custom;
using text::described;
using text::Fields;
using text::Form;
using text::free_text;
using text::MappingReader;
using text::Mistakes;
using text::Node;
using text::NodePtr;
using text::read_fields;
using text::required;
using text::word;

constexpr std::pair<std::string_view, Provenance> kProvenances[] = {
    {"datasheet", Provenance::Datasheet},
    {"measured", Provenance::Measured},
    {"fitted", Provenance::Fitted},
    {"assumed", Provenance::Assumed}};

/// The constants of the three parts, which all have an origin; a `name` is none.
template <class T>
void add_constants(std::vector<std::string>& all, std::string_view part, const Fields<T>& fields) {
    for (const text::Field<T>& field : fields)
        if (field.name != "name") all.push_back(fmt::format("{}.{}", part, field.name));
}

/// An entry of `origins`.
struct OriginOfConstants {
    Provenance provenance = Provenance::Assumed;
    std::string source;
    std::vector<std::string> of;
};

void read_constants(MappingReader& in, std::string_view key, OriginOfConstants& origin) {
    in.texts(key, origin.of);
}

const Fields<OriginOfConstants>& origin_fields() {
    static const Form constant{text::WordForm{cluster_constants()}};
    static const Fields<OriginOfConstants> kFields{
        {"provenance", required(word(&OriginOfConstants::provenance, kProvenances)),
         "The kind of source.", "datasheet"},
        {"source", required(free_text(&OriginOfConstants::source)), "The source, as a sentence.",
         "NVIDIA A100 datasheet (June 2021)"},
        {"of", required(custom(read_constants, {constant, Form{text::ListForm{{constant}, {}}}})),
         "The constants that come from it.", "[gpu.sms, gpu.memory]"}};
    return kFields;
}

}  // namespace

std::string_view name_of(Provenance provenance) {
    for (const auto& [name, value] : kProvenances)
        if (value == provenance) return name;
    return "assumed";
}

std::vector<std::string> cluster_constants() {
    std::vector<std::string> all;
    add_constants(all, "gpu", gpu_fields());
    add_constants(all, "node_link", link_fields());
    add_constants(all, "network", network_fields());
    std::ranges::sort(all);
    return all;
}

std::vector<text::Key> origin_keys() {
    return text::described(origin_fields());
}

Origins read_origins(const NodePtr& list, Mistakes& mistakes) {
    Origins origins;
    if (!list) return origins;
    origins.list = list;
    if (!list->is(Node::Kind::List)) {
        mistakes.add(list->place, fmt::format("'origins' must be a list, not {}", describe(*list)));
        return origins;
    }
    const std::vector<std::string> known = cluster_constants();
    for (const NodePtr& item : list->items) {
        MappingReader in(item, "origins", mistakes);
        OriginOfConstants origin;
        read_fields(in, origin_fields(), origin);
        in.finish();
        for (const std::string& constant : origin.of) {
            if (!std::ranges::binary_search(known, constant))
                in.complain_unknown("of", "constant", constant, known);
            else
                origins.of[constant] = {origin.provenance, origin.source};
        }
    }
    return origins;
}

Cluster::Origin said_in(const text::SourcePosition& place) {
    return {Provenance::Assumed, place.source ? "set in " + place.source->file : "not stated"};
}

void mark_foreign(const NodePtr& part, std::string_view name, const Origins& origins,
                  Cluster& cluster) {
    if (!part) return;
    for (const Node::Entry& entry : part->entries) {
        if (entry.key == "name") continue;
        const std::string key = fmt::format("{}.{}", name, entry.key);
        const auto known = origins.of.find(key);
        const auto& source = entry.value->place.source;
        if (known != origins.of.end() && source == origins.list->place.source)
            cluster.origins[key] = known->second;
        else
            cluster.origins[key] = said_in(entry.value->place);
    }
}

}  // namespace debubble::scenarios
