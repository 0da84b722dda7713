#include "scenarios/cluster/reader.h"

#include <fmt/format.h>

#include "models/execution/laws.h"
#include "scenarios/cluster/fields.h"
#include "scenarios/cluster/measured.h"
#include "scenarios/cluster/reliability.h"
#include "text/quantity.h"

namespace debubble::scenarios {
namespace {

using text::custom;
using text::described;
using text::Fields;
using text::Form;
using text::free_text;
using text::MappingReader;
using text::Mistakes;
using text::NodePtr;
using text::rate;
using text::read_fields;
using text::real;
using text::required;
using text::section;
using text::whole;
using text::word;

/// The header of a file with measurements; only one value exists, so it is not stored.
constexpr std::pair<std::string_view, int> kSchemas[] = {{kClusterSchema, 0}};

/// The target of a cluster's table.
struct ClusterDraft {
    text::ShippedFiles* shipped = nullptr;
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

void read_own_reliability(MappingReader& in, std::string_view key, ClusterDraft& draft) {
    const NodePtr value = in.value(key);
    if (!value) return;
    const std::size_t before = in.mistakes().count();
    const NodePtr map = draft.shipped->resolve(value, key, "scenarios/reliability", in.mistakes());
    if (!map) return;
    read_reliability(map, *draft.shipped, in.mistakes());
    // A scenario reads it again, below its own keys, but says no mistake twice.
    if (in.mistakes().count() == before) draft.cluster.reliability = map;
}

auto in_cluster(auto member) {
    return [member](ClusterDraft& draft) -> decltype(auto) { return (draft.cluster.*member); };
}

const Fields<ClusterDraft>& cluster_fields() {
    static const Fields<ClusterDraft> kFields{
        {"schema", word(&ClusterDraft::schema, kSchemas),
         "The file's type; written by `debubble calibrate`.", "debubble/cluster", "not stated"},
        {"version", whole(&ClusterDraft::version, kClusterVersion, kClusterVersion),
         "The version of the file type, which increases when a key changes its meaning or is "
         "removed.",
         "1", "not stated"},
        {"name", free_text(in_cluster(&Cluster::name)), "The cluster's name.", "my-cluster",
         "inline"},
        {"source", free_text(in_cluster(&Cluster::source)),
         "The source of the figures, as a sentence.", "Datasheets of the vendor", "none"},
        {"gpus_per_node",
         required(whole(in_cluster(&Cluster::gpus_per_node), 1, kMostGpusPerNode, "GPUs")),
         "The number of GPUs per node.", "8"},
        {"gpus_per_tray", whole(in_cluster(&Cluster::gpus_per_tray), 1, kMostGpusPerNode, "GPUs"),
         "The number of GPUs per tray, where the trays of one NVLink domain make up a node: a job "
         "of more than a node takes equally many trays of each domain.",
         "4", "a node is one machine"},
        {"nodes", whole(in_cluster(&Cluster::nodes), 1, kMostNodes, "nodes"),
         "The number of nodes, if the scenario gives none.", "4"},
        {"host_memory", text::bytes(in_cluster(&Cluster::host_memory)),
         "The memory of a node's host, in which copies of checkpoints must fit.", "2 TB",
         "not known"},
        {"node_power", zero_unsets(text::power(in_cluster(&Cluster::node_power))),
         "The maximum power of a node, GPUs included; 0 W: unknown.", "10.2 kW"},
        {"host_adam_parameters_per_s",
         real(in_cluster(&Cluster::host_adam_parameters_per_s), 1, 1e15, "parameters/s"),
         "The rate of Adam on all CPUs of a node together.", "4.2e9"},
        {"gpu", required(section(in_cluster(&Cluster::gpu), gpu_fields())),
         "The device: its peak rates and the shares of them that kernels reach.",
         "{sms: 108, memory: 80 GiB, memory_bandwidth: 2039 GB/s}"},
        {"node_link", required(section(in_cluster(&Cluster::node_link), link_fields())),
         "The links between the GPUs of a node.", "{kind: switched, bandwidth: 300 GB/s}"},
        {"network", required(section(in_cluster(&Cluster::network), network_fields())),
         "The network between nodes.", "{nics_per_node: 8, nic_bandwidth: 200 Gb/s}"},
        {"reliability", custom(read_own_reliability, reliability_forms()),
         "What is known of this cluster's failures, saves and restarts; `debubble calibrate --run` "
         "writes what was measured. A scenario's own keys go above it, and it above a profile.",
         "{checkpoint: {write_bandwidth: 40 GB/s}, restart: {start: 90 s}}", "nothing"},
        {"origins",
         custom(read_origins_key, {Form{text::ListForm{{Form{text::MapForm{origin_keys()}}}, {}}}}),
         "The sources of the constants.",
         "[{provenance: measured, source: our bench, of: [gpu.memory]}]", "none is stated"},
        {"measured", custom(read_measured_key, {Form{text::MapForm{measured_keys()}}}),
         "Times measured on this machine; `debubble calibrate` writes them.",
         "{optimizer_seconds_per_element: 1e-9, operators: []}",
         "none: times follow from the rates"}};
    return kFields;
}

/// A limit is a share of a known power, and more than the part that does not scale with the clock.
void check_power(const NodePtr& map, const Gpu& gpu, Mistakes& mistakes) {
    if (!map || !gpu.power_limit) return;
    MappingReader in(map, "gpu", mistakes);
    const NodePtr limit = in.value("power_limit");
    const auto place = limit ? limit->place : map->place;
    if (!gpu.power)
        mistakes.add(place, "'gpu.power_limit' needs 'gpu.power'");
    else if (*gpu.power_limit > *gpu.power ||
             *gpu.power_limit <= models::laws().clockless_power * *gpu.power)
        mistakes.add(
            place,
            fmt::format("'gpu.power_limit' is {:.6g} W, and must be more than {:.6g} W "
                        "and at most 'gpu.power', {:.6g} W",
                        *gpu.power_limit, models::laws().clockless_power * *gpu.power, *gpu.power));
}

/// A device without memory holds nothing.
void check_memory(const NodePtr& map, Mistakes& mistakes) {
    const NodePtr memory = map ? text::at(map, "memory") : nullptr;
    if (!memory || !memory->is(text::Node::Kind::Scalar)) return;
    const auto bytes = text::parse_bytes(memory->scalar).value;
    if (bytes && bytes->count == 0)
        mistakes.add(memory->place,
                     fmt::format("'memory' must be more than 0, not '{}'", memory->scalar),
                     Diagnostic::Kind::WrongValue);
}

}  // namespace

std::vector<text::Key> cluster_keys() {
    std::vector<text::Key> keys = described(cluster_fields());
    for (text::Key& part : keys) {
        if (!may_refer(part.name)) continue;
        for (Form& form : part.forms)
            for (text::Key& constant : std::get<text::MapForm>(form.is).keys)
                if (constant.name != "name")
                    constant.forms.push_back(
                        Form{text::ForeignForm{"as", "that of another cluster, {as: CLUSTER}"}});
    }
    return keys;
}

Cluster read_cluster(const NodePtr& value, text::ShippedFiles& shipped, Mistakes& mistakes) {
    const NodePtr written = shipped.resolve(value, "cluster", "scenarios/clusters", mistakes);
    if (!written) return {};
    const std::size_t before = mistakes.count();
    const WithReferences references = with_references(written, shipped, mistakes);
    if (mistakes.count() > before) return {};
    const NodePtr& map = references.map;
    MappingReader in(map, "cluster", mistakes);
    ClusterDraft draft;
    draft.shipped = &shipped;
    Cluster& cluster = draft.cluster;
    cluster.name = "inline";
    read_fields(in, cluster_fields(), draft);
    in.finish();
    check_power(in.value("gpu"), cluster.gpu, mistakes);
    check_memory(in.value("gpu"), mistakes);
    mark_foreign(in.value("gpu"), "gpu", draft.origins, cluster);
    mark_foreign(in.value("node_link"), "node_link", draft.origins, cluster);
    mark_foreign(in.value("network"), "network", draft.origins, cluster);
    for (const auto& [key, origin] : references.origins) cluster.origins[key] = origin;
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
