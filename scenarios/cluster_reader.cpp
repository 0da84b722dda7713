#include "scenarios/cluster_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "scenarios/measured.h"
#include "text/fields.h"
#include "text/mapping_reader.h"
#include "text/quantity.h"

namespace debubble::scenarios {
namespace {

using text::bytes;
using text::custom;
using text::described;
using text::duration;
using text::Fields;
using text::flag;
using text::flop_rate;
using text::Form;
using text::free_text;
using text::MappingReader;
using text::Mistakes;
using text::Node;
using text::NodePtr;
using text::rate;
using text::read_fields;
using text::real;
using text::required;
using text::section;
using text::whole;
using text::word;

constexpr int kMostNodes = 1'000'000;
constexpr int kMostGpusPerNode = 1024;
constexpr int kMostNics = 1024;
constexpr double kLeastShare = 0.001;

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

/// The keys of `gpu.attention_rates`.
constexpr std::pair<std::string_view, AttentionKernelOf> kRatedAttention[] = {
    {"cudnn", {models::FusedAttention::Cudnn, false}},
    {"cudnn-fp8", {models::FusedAttention::Cudnn, true}},
    {"flash-1", {models::FusedAttention::Flash1, false}},
    {"flash-2", {models::FusedAttention::Flash2, false}},
    {"flash-3", {models::FusedAttention::Flash3, false}},
    {"flash-3-fp8", {models::FusedAttention::Flash3, true}},
    {"sdpa-efficient", {models::FusedAttention::SdpaEfficient, false}},
    {"triton", {models::FusedAttention::Triton, false}}};

constexpr std::int64_t kLongestMeasured = 1 << 24;
constexpr double kMostAttention = 2;  ///< in 8 bits, of the peak of 16

/// Reads a map such as {2048: 0.49, 8192: 0.65}.
void read_shares(MappingReader& rates_in, std::string_view key,
                 std::map<std::int64_t, double>& shares) {
    rates_in.demand(key);
    const NodePtr map = rates_in.value(key);
    if (!map) return;
    MappingReader in(map, key, rates_in.mistakes());
    if (in.mapping()->entries.empty()) rates_in.complain(key, "a rate needs one length at least");
    for (const Node::Entry& entry : in.mapping()->entries) {
        const auto tokens = text::parse_whole(entry.key);
        if (!tokens || *tokens < 1 || *tokens > kLongestMeasured) {
            in.mistakes().add(entry.place,
                              fmt::format("'{}' is not a number of tokens from 1 to {}", entry.key,
                                          kLongestMeasured));
            continue;
        }
        double share = 1;
        if (in.real(entry.key, share, kLeastShare, kMostAttention)) shares[*tokens] = share;
    }
}

void read_forward_shares(MappingReader& in, std::string_view key, AttentionRates& rates) {
    read_shares(in, key, rates.forward);
}
void read_backward_shares(MappingReader& in, std::string_view key, AttentionRates& rates) {
    read_shares(in, key, rates.backward);
}

const Fields<AttentionRates>& attention_rate_fields() {
    static const std::vector<Form> kTable{Form{text::TableForm{
        "TOKENS", "^[1-9][0-9]*$", {Form{text::RealForm{kLeastShare, kMostAttention, "share"}}}}}};
    static const Fields<AttentionRates> kFields{
        {"forward", required(custom(read_forward_shares, kTable)), "Of the forward.",
         "{4096: 0.6, 8192: 0.65}"},
        {"backward", required(custom(read_backward_shares, kTable)), "Of the backward.",
         "{4096: 0.48, 8192: 0.55}"}};
    return kFields;
}

/// The names of the kernels of attention whose rates a cluster may have.
std::vector<text::Key> attention_rate_keys() {
    std::vector<text::Key> keys;
    for (const auto& [name, kernel] : kRatedAttention) {
        text::Key key;
        key.name = name;
        key.meaning = "The shares that this kernel reaches.";
        key.example = "{forward: {8192: 0.65}, backward: {8192: 0.55}}";
        key.otherwise = "as the kernel-independent shares";
        key.forms = {Form{text::MapForm{described(attention_rate_fields())}}};
        keys.push_back(std::move(key));
    }
    return keys;
}

void read_attention_rates(MappingReader& gpu_in, std::string_view key, Gpu& gpu) {
    const NodePtr map = gpu_in.value(key);
    if (!map) return;
    MappingReader in(map, key, gpu_in.mistakes());
    for (const auto& [name, kernel] : kRatedAttention) {
        const NodePtr value = in.value(name);
        if (!value) continue;
        MappingReader of_kernel(value, name, in.mistakes());
        AttentionRates rates;
        read_fields(of_kernel, attention_rate_fields(), rates);
        of_kernel.finish();
        gpu.attention_rates[kernel] = std::move(rates);
    }
    in.finish();
}

const Fields<Gpu>& gpu_fields() {
    static const Fields<Gpu> kFields{
        {"name", free_text(&Gpu::name), "The device's name.", "NVIDIA A100-SXM4-80GB", "none"},
        {"sms", required(whole(&Gpu::sms, 1, 100'000)),
         "Streaming multiprocessors: the tiles of a matrix product run in waves of these.", "108"},
        {"fp16_flops", flop_rate(&Gpu::fp16_flops_per_s),
         "The dense peak rate of fp16 and bf16; 0 FLOP/s: not known.", "312 TFLOP/s"},
        {"fp8_flops", flop_rate(&Gpu::fp8_flops_per_s),
         "The dense peak rate of products in 8 bits; 0 FLOP/s: it has none.", "1979 TFLOP/s"},
        {"fp4_flops", flop_rate(&Gpu::fp4_flops_per_s),
         "The dense peak rate of products in 4 bits with a scale per block; 0 FLOP/s: it has none, "
         "and no MXFP8.",
         "9000 TFLOP/s"},
        {"fp32_flops", flop_rate(&Gpu::fp32_flops_per_s),
         "The rate of fp32 matrix products; 0 FLOP/s: not known.", "19.5 TFLOP/s"},
        {"bf16", flag(&Gpu::bf16), "The device has matrix units for bf16.", "false"},
        {"memory", required(bytes(&Gpu::memory)), "The bytes that a process can allocate.",
         "79.15 GiB"},
        {"memory_bandwidth", required(rate(&Gpu::memory_bandwidth)),
         "The rate of the device's memory, from the datasheet.", "2039 GB/s"},
        {"gemm_efficiency", real(&Gpu::gemm_efficiency, kLeastShare, 1, "share"),
         "The share of the peak that a very large matrix product reaches.", "0.8"},
        {"fp8_gemm_efficiency", real(&Gpu::fp8_gemm_efficiency, kLeastShare, 1, "share"),
         "The share of the fp8 peak that a very large matrix product reaches.", "0.75"},
        {"fp4_gemm_efficiency", real(&Gpu::fp4_gemm_efficiency, kLeastShare, 1, "share"),
         "The share of the fp4 peak that a very large matrix product reaches.", "0.4"},
        {"sustained_clock", real(&Gpu::sustained_clock, kLeastShare, 1, "share"),
         "The share of the rates of single products and attentions that a long training keeps "
         "under "
         "the power limit.",
         "0.85"},
        {"clock_spread", real(&Gpu::clock_spread, 0, 0.2, "share"),
         "The standard deviation of the clocks of such devices: a step waits for the slowest of "
         "its devices.",
         "0.01"},
        {"power", text::power(&Gpu::power),
         "The power under which sustained_clock was found; 0 W: not known.", "700 W"},
        {"power_limit", text::power(&Gpu::power_limit),
         "The power that the device may take, where an operator has set less than that: products "
         "and attentions slow down by the cube root of what is left above a fifth of it.",
         "500 W"},
        {"attention_forward_efficiency",
         real(&Gpu::attention_forward_efficiency, kLeastShare, 1, "share"),
         "The share of the peak that flash attention reaches in the forward, on long sequences.",
         "0.7"},
        {"attention_backward_efficiency",
         real(&Gpu::attention_backward_efficiency, kLeastShare, 1, "share"),
         "The share of the peak that flash attention reaches in the backward, on long sequences.",
         "0.6"},
        {"attention_rates",
         custom(read_attention_rates, {Form{text::MapForm{attention_rate_keys()}}}),
         "Shares of the fp16 peak that kernels of fused attention reach, by tokens of the "
         "sequence: "
         "causal heads of 128, FLOPs of the half that counts.",
         "{cudnn: {forward: {4096: 0.6, 8192: 0.65}, backward: {4096: 0.48, 8192: 0.55}}}",
         "attention_forward_efficiency and attention_backward_efficiency, for every kernel"},
        {"memory_efficiency", real(&Gpu::memory_efficiency, kLeastShare, 1, "share"),
         "The share of the memory's bandwidth that elementwise kernels reach on average.", "0.8"},
        {"gemm_overhead", duration(&Gpu::gemm_overhead), "Time added for each matrix product.",
         "3 us"},
        {"kernel_overhead", duration(&Gpu::kernel_overhead),
         "Time added for each memory-bound kernel.", "2 us"},
        {"host_link", rate(&Gpu::host_link),
         "The rate from the device to pinned memory of the host, in one direction.", "25 GB/s"},
        {"threads", whole(&Gpu::threads, 1, 100'000, "threads"),
         "The threads of a processor that make up one such device.", "4",
         "none: the device is a real GPU"}};
    return kFields;
}

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

const Fields<NodeLink>& link_fields() {
    static const Fields<NodeLink> kFields{
        {"kind", word(&NodeLink::kind, kLinkKinds),
         "How the GPUs of a node are linked: by switches, a mesh of links in a ring, in pairs, or "
         "over PCIe.",
         "ring"},
        {"bandwidth", required(rate(&NodeLink::bandwidth)),
         "The rate of one GPU's links together, in one direction.", "300 GB/s"},
        {"efficiency", real(&NodeLink::efficiency, kLeastShare, 1, "share"),
         "The share of the bandwidth that the collective library reaches (bus bandwidth).", "0.9"},
        {"group_efficiency",
         custom(read_group_efficiency,
                {Form{text::TableForm{
                    "GPUS", "^[1-9][0-9]*$", {Form{text::RealForm{kLeastShare, 1, "share"}}}}}}),
         "The share for groups of so many GPUs and more, where it differs.",
         "{2: 0.647, 4: 0.747, 8: 0.770}", "efficiency, for groups of any size"},
        {"latency", duration(&NodeLink::latency), "Time added for each hop of a collective.",
         "2.8 us"},
        {"base_latency", duration(&NodeLink::base_latency), "Time added for every collective.",
         "29 us"},
        {"half_bandwidth_size", bytes(&NodeLink::half_bandwidth_size),
         "The size of a message that reaches half of the bandwidth.", "307 KB"},
        {"in_network_reduction", flag(&NodeLink::in_network_reduction),
         "The switches add up reductions (NVLink SHARP).", "true"}};
    return kFields;
}

const Fields<NodeNetwork>& network_fields() {
    static const Fields<NodeNetwork> kFields{
        {"nics_per_node", whole(&NodeNetwork::nics_per_node, 1, kMostNics, "NICs"),
         "Network interfaces of a node.", "8"},
        {"nic_bandwidth", required(rate(&NodeNetwork::nic_bandwidth)),
         "The rate of one of them, in one direction.", "200 Gb/s"},
        {"efficiency", real(&NodeNetwork::efficiency, kLeastShare, 1, "share"),
         "The share of that rate which large messages reach.", "0.84"},
        {"latency", duration(&NodeNetwork::latency), "Time added for each hop of a collective.",
         "20 us"},
        {"p2p_latency", duration(&NodeNetwork::p2p_latency),
         "The time of one point-to-point message of no size, software included.", "120 us"},
        {"oversubscription", real(&NodeNetwork::oversubscription, 1, 1000, "ratio"),
         "The bandwidth into the leaf switches, relative to that from leaf to spine.", "2"},
        {"nodes_per_leaf", whole(&NodeNetwork::nodes_per_leaf, 0, kMostNodes, "nodes"),
         "Nodes of a leaf switch; 0: one leaf for all nodes.", "32"}};
    return kFields;
}

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

/// What a file with measurements begins with; no other value is known, so that none is kept.
constexpr std::pair<std::string_view, int> kSchemas[] = {{kClusterSchema, 0}};

/// What the table of a cluster reads into.
struct ClusterDraft {
    Cluster cluster;
    std::optional<int> schema;
    std::optional<int> version;
    Origins origins;
};

void read_origins_key(MappingReader& in, std::string_view key, ClusterDraft& draft) {
    draft.origins = read_origins(in.value(key), in.mistakes());
}

void read_measured_key(MappingReader& in, std::string_view key, ClusterDraft& draft) {
    if (const NodePtr measured = in.value(key))
        draft.cluster.measured = read_measured(measured, in.mistakes());
}

auto in_cluster(auto member) {
    return [member](ClusterDraft& draft) -> decltype(auto) { return (draft.cluster.*member); };
}

const Fields<ClusterDraft>& cluster_fields() {
    static const Fields<ClusterDraft> kFields{
        {"schema", word(&ClusterDraft::schema, kSchemas),
         "What the file is; `debubble calibrate` writes it.", "debubble/cluster", "not stated"},
        {"version", whole(&ClusterDraft::version, kClusterVersion, kClusterVersion),
         "The version of that, which grows when a key changes its meaning or goes.", "1",
         "not stated"},
        {"name", free_text(in_cluster(&Cluster::name)), "The cluster's name.", "my-cluster",
         "inline"},
        {"source", free_text(in_cluster(&Cluster::source)),
         "Where the figures come from, as a sentence.", "Datasheets of the vendor", "none"},
        {"gpus_per_node",
         required(whole(in_cluster(&Cluster::gpus_per_node), 1, kMostGpusPerNode, "GPUs")),
         "GPUs of a node.", "8"},
        {"gpus_per_tray", whole(in_cluster(&Cluster::gpus_per_tray), 1, kMostGpusPerNode, "GPUs"),
         "GPUs of a tray, where trays with one NVLink domain make a node: a job of more than a "
         "node "
         "takes equally many trays of each domain.",
         "4", "a node is one machine"},
        {"nodes", whole(in_cluster(&Cluster::nodes), 1, kMostNodes, "nodes"),
         "Nodes of a scenario that gives no number itself.", "4"},
        {"host_adam_parameters_per_s",
         real(in_cluster(&Cluster::host_adam_parameters_per_s), 1, 1e15, "parameters/s"),
         "The rate of Adam on all processors of a node together.", "4.2e9"},
        {"gpu", required(section(in_cluster(&Cluster::gpu), gpu_fields())),
         "The device: its peak rates, and the shares of them that kernels reach.",
         "{sms: 108, memory: 80 GiB, memory_bandwidth: 2039 GB/s}"},
        {"node_link", required(section(in_cluster(&Cluster::node_link), link_fields())),
         "The links between the GPUs of a node.", "{kind: switched, bandwidth: 300 GB/s}"},
        {"network", required(section(in_cluster(&Cluster::network), network_fields())),
         "The network between nodes.", "{nics_per_node: 8, nic_bandwidth: 200 Gb/s}"},
        {"origins",
         custom(read_origins_key,
                {Form{text::ListForm{{Form{text::MapForm{described(origin_fields())}}}, {}}}}),
         "The sources of the constants.",
         "[{provenance: measured, source: our bench, of: [gpu.memory]}]", "none is stated"},
        {"measured", custom(read_measured_key, {Form{text::MapForm{measured_keys()}}}),
         "Times measured on this machine; `debubble calibrate` writes them.",
         "{optimizer_seconds_per_element: 1e-9, operators: []}",
         "none: times follow from the rates"}};
    return kFields;
}

/// A limit is a share of a known power, and more than what does not follow the clock.
void check_power(const NodePtr& map, const Gpu& gpu, Mistakes& mistakes) {
    if (!map || gpu.power_limit == 0) return;
    MappingReader in(map, "gpu", mistakes);
    const NodePtr limit = in.value("power_limit");
    const auto place = limit ? limit->place : map->place;
    if (gpu.power == 0)
        mistakes.add(place, "'gpu.power_limit' needs 'gpu.power', of which it is a share");
    else if (gpu.power_limit > gpu.power || gpu.power_limit <= kClocklessPower * gpu.power)
        mistakes.add(place,
                     fmt::format("'gpu.power_limit' is {:.6g} W, and must be more than {:.6g} W "
                                 "and at most 'gpu.power', {:.6g} W",
                                 gpu.power_limit, kClocklessPower * gpu.power, gpu.power));
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

std::vector<text::Key> cluster_keys() {
    return described(cluster_fields());
}

Cluster read_cluster(const NodePtr& value, text::ShippedFiles& shipped, Mistakes& mistakes) {
    const NodePtr map = shipped.resolve(value, "cluster", "scenarios/clusters", mistakes);
    if (!map) return {};
    MappingReader in(map, "cluster", mistakes);
    ClusterDraft draft;
    Cluster& cluster = draft.cluster;
    cluster.name = "inline";
    read_fields(in, cluster_fields(), draft);
    in.finish();
    check_power(in.value("gpu"), cluster.gpu, mistakes);
    mark_foreign(in.value("gpu"), "gpu", draft.origins, cluster);
    mark_foreign(in.value("node_link"), "node_link", draft.origins, cluster);
    mark_foreign(in.value("network"), "network", draft.origins, cluster);
    if (const NodePtr adam = in.value("host_adam_parameters_per_s"))
        cluster.origins["host_adam_parameters_per_s"] = said_in(adam->place);
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
