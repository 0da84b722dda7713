#include "exec/program/calibrate/collectives.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "exec/program/calibrate/calibrate.h"
#include "exec/program/calibrate/run_times.h"
#include "scenarios/cluster/measured.h"
#include "scenarios/cluster/reader.h"
#include "text/shipped_files.h"

namespace debubble::exec {
namespace {

using scenarios::Measured;

bool is_shipped(const std::string& name) {
    const std::vector<std::string> names = text::shipped_names("scenarios/clusters");
    return std::ranges::find(names, name) != names.end();
}

}  // namespace

void put_collectives(const std::vector<scenarios::CollectiveSample>& samples,
                     scenarios::Cluster& cluster) {
    const scenarios::FittedCollectives fitted = scenarios::fit_collectives(samples, true);
    if (fitted.empty()) return;
    auto measured = cluster.measured ? std::make_shared<Measured>(*cluster.measured)
                                     : std::make_shared<Measured>();
    const std::string words = scenarios::words_of(fitted);
    measured->with += (measured->with.empty() ? "" : "; ") + words;
    for (const auto& [group, found] : fitted) {
        if (group.first) {
            measured->collectives[{*group.first, group.second}] = found.cost;
            continue;
        }
        cluster.node_link.latency = found.cost.latency;
        cluster.node_link.bandwidth = found.cost.bandwidth;
        for (const char* key : {"node_link.latency", "node_link.bandwidth"})
            cluster.origins[key] = {scenarios::Provenance::Measured, words};
    }
    cluster.measured = measured;
}

std::string collective_words(const std::vector<scenarios::CollectiveSample>& samples) {
    std::string out = scenarios::words_of(scenarios::fit_collectives(samples, true));
    const std::string over = scenarios::words_of(scenarios::fit_collectives(samples, false));
    if (!over.empty())
        out += fmt::format("{}over nodes, which no cluster file has: {}", out.empty() ? "" : "\n",
                           over);
    return out;
}

std::string cluster_file_text(const scenarios::Cluster& cluster, const scenarios::Cluster& base,
                              const std::string& name) {
    scenarios::Cluster named = cluster;
    named.name = name;
    if (base.gpu.threads || base.measured || !is_shipped(base.name)) return cluster_text(named);
    std::string out = fmt::format("schema: {}\nversion: {}\nname: {}\nsource: {}\nbase: {}\n",
                                  scenarios::kClusterSchema, scenarios::kClusterVersion,
                                  scenarios::yaml_quoted(name),
                                  scenarios::yaml_quoted(cluster.source), base.name);
    if (!cluster.gpu.kernels_file.empty())
        out +=
            fmt::format("gpu:\n  kernels: {}\n", scenarios::yaml_quoted(cluster.gpu.kernels_file));
    if (cluster.node_link.bandwidth != base.node_link.bandwidth ||
        cluster.node_link.latency != base.node_link.latency)
        out += fmt::format(
            "node_link:\n  bandwidth: {} B/s\n  latency: {} ns\n  base_latency: {} ns\n"
            "  half_bandwidth_size: {} B\n"
            "origins:\n  - provenance: measured\n    source: {}\n"
            "    of: [node_link.bandwidth, node_link.latency, node_link.base_latency, "
            "node_link.half_bandwidth_size]\n",
            cluster.node_link.bandwidth.value, cluster.node_link.latency.count(),
            cluster.node_link.base_latency.count(), cluster.node_link.half_bandwidth_size.count,
            scenarios::yaml_quoted(cluster.measured ? cluster.measured->with : "measured"));
    out += reliability_text(cluster);
    if (cluster.measured) out += measured_text(*cluster.measured);
    return out;
}

}  // namespace debubble::exec
