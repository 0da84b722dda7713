#include "sim/measured/compare_measured.h"

#include "scenarios/cluster/reader.h"
#include "sim/network/collective_cost.h"
#include "text/mapping_reader.h"

namespace debubble::sim {
namespace {

constexpr std::pair<std::string_view, CollectiveKind> kKinds[] = {
    {"all-reduce", CollectiveKind::AllReduce},
    {"all-gather", CollectiveKind::AllGather},
    {"reduce-scatter", CollectiveKind::ReduceScatter},
    {"broadcast", CollectiveKind::Broadcast},
    {"all-to-all", CollectiveKind::AllToAll}};
constexpr int kMostGpus = 1 << 20;
constexpr std::int64_t kMostBytes = 1'000'000'000'000;

struct AskedCollective {
    scenarios::Cluster cluster;
    int gpus = 1;
    CollectiveKind kind = CollectiveKind::AllReduce;
    Bytes size;
};

/// Throws InputError with every mistake.
AskedCollective read(const text::NodePtr& scenario) {
    text::Mistakes mistakes;
    text::ShippedFiles shipped;
    AskedCollective asked;
    text::MappingReader in(scenario, "scenario", mistakes);
    for (const char* key : {"cluster", "gpus", "collective", "bytes"}) in.demand(key);
    if (const text::NodePtr cluster = in.value("cluster"))
        asked.cluster = scenarios::read_cluster(cluster, shipped, mistakes);
    in.whole("gpus", asked.gpus, 2, kMostGpus);
    in.word("collective", asked.kind, kKinds);
    in.whole("bytes", asked.size.count, 1, kMostBytes);
    in.finish();
    mistakes.throw_if_any();
    return asked;
}

/// The bytes on the bus of each GPU per byte of the whole tensor.
double bus_share(CollectiveKind kind, int gpus) {
    const double others = static_cast<double>(gpus - 1) / gpus;
    switch (kind) {
        case CollectiveKind::AllReduce: return 2 * others;
        case CollectiveKind::Broadcast: return 1;
        case CollectiveKind::AllGather:
        case CollectiveKind::ReduceScatter:
        case CollectiveKind::AllToAll: break;
    }
    return others;
}

}  // namespace

MeasuredComparison compare_collective(const MeasuredStep& step) {
    MeasuredComparison row;
    row.step = step;
    try {
        const AskedCollective asked = read(step.scenario);
        const GroupPlacement group =
            place({0, {{asked.gpus, 1}}}, {0, {{asked.gpus, 1}}}, asked.cluster);
        row.gpu = asked.cluster.name;
        row.fits = true;
        row.work = bus_share(asked.kind, asked.gpus) * static_cast<double>(asked.size.count);
        const double measured =
            step.time_s ? *step.time_s : row.work / (*step.busbw_gb_per_s * 1e9);
        const CollectiveCost cost = collective_cost(asked.kind, asked.size, group, asked.cluster);
        row.time = Compared{measured, seconds(cost.total())};
    } catch (const InputError& error) {
        row.unsaid = error.diagnostics().front().message;
    }
    return row;
}

}  // namespace debubble::sim
