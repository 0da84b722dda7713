#include "scenarios/cluster_reader.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "scenarios/measured.h"
#include "text/mapping_reader.h"
#include "text/quantity.h"

namespace debubble::scenarios {
namespace {

using text::MappingReader;
using text::Mistakes;
using text::Node;
using text::NodePtr;

constexpr int kMostNodes = 1'000'000;
constexpr int kMostGpusPerNode = 1024;
constexpr int kMostNics = 1024;

constexpr std::pair<std::string_view, Provenance> kProvenances[] = {
    {"datasheet", Provenance::Datasheet},
    {"measured", Provenance::Measured},
    {"fitted", Provenance::Fitted},
    {"assumed", Provenance::Assumed}};
constexpr std::pair<std::string_view, NodeLink::Kind> kLinkKinds[] = {
    {"switched", NodeLink::Kind::Switched},
    {"ring", NodeLink::Kind::Ring},
    {"pairs", NodeLink::Kind::Pairs},
    {"pcie", NodeLink::Kind::Pcie}};

/// Keys of the three parts, all of which are constants with an origin; `name` is not.
constexpr std::array<std::string_view, 14> kGpuKeys{"sms",
                                                    "bf16",
                                                    "fp16_flops",
                                                    "fp32_flops",
                                                    "memory",
                                                    "memory_bandwidth",
                                                    "gemm_efficiency",
                                                    "attention_forward_efficiency",
                                                    "attention_backward_efficiency",
                                                    "memory_efficiency",
                                                    "gemm_overhead",
                                                    "kernel_overhead",
                                                    "host_link",
                                                    "threads"};
constexpr std::array<std::string_view, 8> kLinkKeys{
    "kind",    "bandwidth",    "efficiency",          "group_efficiency",
    "latency", "base_latency", "half_bandwidth_size", "in_network_reduction"};
constexpr std::array<std::string_view, 7> kNetworkKeys{
    "nics_per_node", "nic_bandwidth",    "efficiency",    "latency",
    "p2p_latency",   "oversubscription", "nodes_per_leaf"};

Gpu read_gpu(const NodePtr& map, Mistakes& mistakes) {
    MappingReader in(map, "gpu", mistakes);
    Gpu gpu;
    for (const std::string_view key : {"sms", "memory", "memory_bandwidth"}) in.demand(key);
    in.text("name", gpu.name);
    in.whole("sms", gpu.sms, 1, 100'000);
    in.flop_rate("fp16_flops", gpu.fp16_flops_per_s);
    in.flop_rate("fp32_flops", gpu.fp32_flops_per_s);
    in.flag("bf16", gpu.bf16);
    in.bytes("memory", gpu.memory);
    in.rate("memory_bandwidth", gpu.memory_bandwidth);
    in.real("gemm_efficiency", gpu.gemm_efficiency, 0.001, 1);
    in.real("attention_forward_efficiency", gpu.attention_forward_efficiency, 0.001, 1);
    in.real("attention_backward_efficiency", gpu.attention_backward_efficiency, 0.001, 1);
    in.real("memory_efficiency", gpu.memory_efficiency, 0.001, 1);
    in.duration("gemm_overhead", gpu.gemm_overhead);
    in.duration("kernel_overhead", gpu.kernel_overhead);
    in.rate("host_link", gpu.host_link);
    if (int threads = 0; in.whole("threads", threads, 1, 100'000)) gpu.threads = threads;
    in.finish();
    return gpu;
}

/// Reads a map such as {2: 0.647, 4: 0.747}: the efficiency of groups of that many GPUs and more.
void read_group_efficiency(const NodePtr& map, NodeLink& link, Mistakes& mistakes) {
    if (!map) return;
    MappingReader in(map, "group_efficiency", mistakes);
    for (const Node::Entry& entry : in.mapping()->entries) {
        const auto members = text::parse_whole(entry.key);
        if (!members || *members < 2 || *members > kMostGpusPerNode) {
            mistakes.add(entry.place, fmt::format("'{}' is not a number of GPUs from 2 to {}",
                                                  entry.key, kMostGpusPerNode));
            continue;
        }
        double efficiency = 1;
        if (in.real(entry.key, efficiency, 0.001, 1))
            link.group_efficiency[static_cast<int>(*members)] = efficiency;
    }
}

NodeLink read_link(const NodePtr& map, Mistakes& mistakes) {
    MappingReader in(map, "node_link", mistakes);
    NodeLink link;
    in.demand("bandwidth");
    in.word("kind", link.kind, kLinkKinds);
    in.rate("bandwidth", link.bandwidth);
    in.real("efficiency", link.efficiency, 0.001, 1);
    read_group_efficiency(in.value("group_efficiency"), link, mistakes);
    in.duration("latency", link.latency);
    in.duration("base_latency", link.base_latency);
    in.bytes("half_bandwidth_size", link.half_bandwidth_size);
    in.flag("in_network_reduction", link.in_network_reduction);
    in.finish();
    return link;
}

NodeNetwork read_network(const NodePtr& map, Mistakes& mistakes) {
    MappingReader in(map, "network", mistakes);
    NodeNetwork network;
    in.demand("nic_bandwidth");
    in.whole("nics_per_node", network.nics_per_node, 1, kMostNics);
    in.rate("nic_bandwidth", network.nic_bandwidth);
    in.real("efficiency", network.efficiency, 0.001, 1);
    in.duration("latency", network.latency);
    in.duration("p2p_latency", network.p2p_latency);
    in.real("oversubscription", network.oversubscription, 1, 1000);
    in.whole("nodes_per_leaf", network.nodes_per_leaf, 0, kMostNodes);
    in.finish();
    return network;
}

struct Origins {
    NodePtr list;
    std::map<std::string, Cluster::Origin> of;
};

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
        Cluster::Origin origin;
        std::vector<std::string> constants;
        for (const std::string_view key : {"provenance", "source", "of"}) in.demand(key);
        in.word("provenance", origin.provenance, kProvenances);
        in.text("source", origin.source);
        in.texts("of", constants);
        in.finish();
        for (const std::string& constant : constants) {
            if (!std::ranges::binary_search(known, constant))
                in.complain_unknown("of", "constant", constant, known);
            else
                origins.of[constant] = origin;
        }
    }
    return origins;
}

Cluster::Origin said_in(const text::SourcePosition& place) {
    return {Provenance::Assumed, place.source ? "set in " + place.source->file : "not stated"};
}

/// Marks constants that are set in another file than the origins, which do not describe them.
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

template <std::size_t N>
void add_constants(std::vector<std::string>& all, std::string_view part,
                   const std::array<std::string_view, N>& keys) {
    for (const std::string_view key : keys) all.push_back(fmt::format("{}.{}", part, key));
}

}  // namespace

std::string_view name_of(Provenance provenance) {
    for (const auto& [name, value] : kProvenances)
        if (value == provenance) return name;
    return "assumed";
}

std::vector<std::string> cluster_constants() {
    std::vector<std::string> all;
    add_constants(all, "gpu", kGpuKeys);
    add_constants(all, "node_link", kLinkKeys);
    add_constants(all, "network", kNetworkKeys);
    std::ranges::sort(all);
    return all;
}

Cluster read_cluster(const NodePtr& value, text::ShippedFiles& shipped, Mistakes& mistakes) {
    const NodePtr map = shipped.resolve(value, "cluster", "scenarios/clusters", mistakes);
    Cluster cluster;
    if (!map) return cluster;
    MappingReader in(map, "cluster", mistakes);
    for (const std::string_view key : {"gpu", "node_link", "network", "gpus_per_node"})
        in.demand(key);
    cluster.name = "inline";
    in.text("name", cluster.name);
    in.text("source", cluster.source);
    in.whole("gpus_per_node", cluster.gpus_per_node, 1, kMostGpusPerNode);
    in.whole("nodes", cluster.nodes, 1, kMostNodes);
    in.real("host_adam_parameters_per_s", cluster.host_adam_parameters_per_s, 1, 1e15);
    const NodePtr gpu = in.value("gpu");
    const NodePtr link = in.value("node_link");
    const NodePtr network = in.value("network");
    if (gpu) cluster.gpu = read_gpu(gpu, mistakes);
    if (link) cluster.node_link = read_link(link, mistakes);
    if (network) cluster.network = read_network(network, mistakes);
    const Origins origins = read_origins(in.value("origins"), mistakes);
    mark_foreign(gpu, "gpu", origins, cluster);
    mark_foreign(link, "node_link", origins, cluster);
    mark_foreign(network, "network", origins, cluster);
    if (const NodePtr adam = in.value("host_adam_parameters_per_s"))
        cluster.origins["host_adam_parameters_per_s"] = said_in(adam->place);
    if (const NodePtr measured = in.value("measured"))
        cluster.measured = read_measured(measured, mistakes);
    in.finish();
    return cluster;
}

Cluster read_cluster(const std::string& name_or_path) {
    text::ShippedFiles shipped;
    Mistakes mistakes;
    Cluster cluster = read_cluster(text::make_scalar(name_or_path, {}), shipped, mistakes);
    mistakes.throw_if_any();
    return cluster;
}

}  // namespace debubble::scenarios
