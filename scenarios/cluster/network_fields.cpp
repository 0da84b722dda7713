#include <fmt/format.h>

#include "scenarios/cluster/fields.h"
#include "text/quantity.h"

/// The keys of a cluster's `node_link` and `network`.
namespace debubble::scenarios {
namespace {

using text::bytes;
using text::custom;
using text::duration;
using text::Fields;
using text::Form;
using text::MappingReader;
using text::Node;
using text::NodePtr;
using text::rate;
using text::real;
using text::required;
using text::whole;
using text::word;

constexpr int kMostNics = 1024;
constexpr std::pair<std::string_view, NodeLink::Kind> kLinkKinds[] = {
    {"switched", NodeLink::Kind::Switched},
    {"ring", NodeLink::Kind::Ring},
    {"pairs", NodeLink::Kind::Pairs},
    {"pcie", NodeLink::Kind::Pcie}};

/// Reads a map such as {2: 0.647, 4: 0.747}: the efficiency of groups of that many GPUs and more.
void read_group_efficiency(MappingReader& link_in, std::string_view key, NodeLink& link) {
    const NodePtr map = link_in.value(key);
    if (!map) return;
    MappingReader in(map, key, link_in.mistakes());
    for (const Node::Entry& entry : in.mapping()->entries) {
        const auto members = text::parse_whole(entry.key);
        if (!members || *members < 2 || *members > kMostGpusPerNode) {
            in.mistakes().add(entry.place, fmt::format("'{}' is not a number of GPUs from 2 to {}",
                                                       entry.key, kMostGpusPerNode));
            continue;
        }
        double efficiency = 1;
        if (in.real(entry.key, efficiency, kLeastShare, 1))
            link.group_efficiency[static_cast<int>(*members)] = efficiency;
    }
}

}  // namespace

const Fields<NodeLink>& link_fields() {
    static const Fields<NodeLink> kFields{
        {"kind", word(&NodeLink::kind, kLinkKinds),
         "How the GPUs of a node are linked: by switches, a mesh of links, in pairs, or over PCIe.",
         "ring"},
        {"bandwidth", required(rate(&NodeLink::bandwidth)),
         "The bandwidth of all links of one GPU, in one direction.", "300 GB/s"},
        {"efficiency", real(&NodeLink::efficiency, kLeastShare, 1, "share"),
         "The share of the bandwidth that the collective library reaches (bus bandwidth).", "0.9"},
        {"group_efficiency",
         custom(read_group_efficiency,
                {Form{text::TableForm{
                    "GPUS", "^[1-9][0-9]*$", {Form{text::RealForm{kLeastShare, 1, "share"}}}}}}),
         "The share for groups of at least this many GPUs, where it differs.",
         "{2: 0.647, 4: 0.747, 8: 0.770}", "efficiency, for groups of any size"},
        {"latency", duration(&NodeLink::latency), "Time added per hop of a collective.", "2.8 us"},
        {"base_latency", duration(&NodeLink::base_latency), "Time added to every collective.",
         "29 us"},
        {"half_bandwidth_size", bytes(&NodeLink::half_bandwidth_size),
         "The message size at which half of the bandwidth is reached.", "307 KB"},
        {"all_reduce_bandwidth", real(&NodeLink::all_reduce_bandwidth, 0.1, 4, "ratio"),
         "The bus bandwidth of an all-reduce inside a node relative to an all-gather: above 1 "
         "where the switches reduce (NVLink SHARP).",
         "1.24"},
        {"all_to_all_bandwidth", real(&NodeLink::all_to_all_bandwidth, 0.1, 4, "ratio"),
         "The same for an all-to-all.", "0.97"}};
    return kFields;
}

const Fields<NodeNetwork>& network_fields() {
    static const Fields<NodeNetwork> kFields{
        {"nics_per_node", whole(&NodeNetwork::nics_per_node, 1, kMostNics, "NICs"),
         "The number of network interfaces per node.", "8"},
        {"nic_bandwidth", required(rate(&NodeNetwork::nic_bandwidth)),
         "The bandwidth of one interface, in one direction.", "200 Gb/s"},
        {"efficiency", real(&NodeNetwork::efficiency, kLeastShare, 1, "share"),
         "The share of that bandwidth that large messages reach.", "0.84"},
        {"latency", duration(&NodeNetwork::latency), "Time added per hop of a collective.",
         "20 us"},
        {"p2p_latency", duration(&NodeNetwork::p2p_latency),
         "The latency of a point-to-point message, software included.", "120 us"},
        {"oversubscription", real(&NodeNetwork::oversubscription, 1, 1000, "ratio"),
         "Oversubscription: the bandwidth into a leaf switch relative to that from leaf to spine.",
         "2"},
        {"nodes_per_leaf", zero_unsets(whole(&NodeNetwork::nodes_per_leaf, 0, kMostNodes, "nodes")),
         "The number of nodes per leaf switch, or per unit whose leaf switches hold one NIC of "
         "every node each (rails); 0: one leaf for all nodes.",
         "32"}};
    return kFields;
}

}  // namespace debubble::scenarios
