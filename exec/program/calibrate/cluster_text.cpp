#include <fmt/format.h>
#include <fmt/ranges.h>

#include "exec/program/calibrate/calibrate.h"
#include "exec/program/calibrate/run_times.h"
#include "scenarios/cluster/measured.h"
#include "scenarios/cluster/reader.h"

namespace debubble::exec {

namespace {

std::string in_ns(Duration time) {
    return fmt::format("{} ns", time.count());
}

/// The origins of constants; those that share one are in one entry.
std::string origins_text(const scenarios::Cluster& cluster) {
    std::map<std::pair<std::string_view, std::string>, std::vector<std::string>> of;
    for (const auto& [constant, origin] : cluster.origins)
        of[{name_of(origin.provenance), origin.source}].push_back(constant);
    std::string out = of.empty() ? "origins: []\n" : "origins:\n";
    for (const auto& [origin, constants] : of)
        out += fmt::format("  - provenance: {}\n    source: {}\n    of: [{}]\n", origin.first,
                           scenarios::yaml_quoted(origin.second), fmt::join(constants, ", "));
    return out;
}

}  // namespace

std::string cluster_text(const scenarios::Cluster& cluster) {
    const scenarios::Gpu& gpu = cluster.gpu;
    const scenarios::NodeLink& link = cluster.node_link;
    const scenarios::NodeNetwork& network = cluster.network;
    std::string out = fmt::format(
        "schema: {}\nversion: {}\nname: {}\nsource: {}\ngpus_per_node: {}\nnodes: {}\n",
        scenarios::kClusterSchema, scenarios::kClusterVersion, scenarios::yaml_quoted(cluster.name),
        scenarios::yaml_quoted(cluster.source), cluster.gpus_per_node, cluster.nodes);
    out += fmt::format(
        "gpu:\n  name: {}\n  sms: {}\n  fp16_flops: {} FLOP/s\n  fp32_flops: {} FLOP/s\n"
        "  bf16: {}\n  memory: {} B\n  memory_bandwidth: {} B/s\n  gemm_efficiency: {}\n"
        "  gemm_fill: {}\n  gemm_depth: {}\n  attention_forward_efficiency: {}\n  "
        "attention_backward_efficiency: {}\n"
        "  memory_efficiency: {}\n  gemm_overhead: {}\n  kernel_overhead: {}\n"
        "  host_link: {} B/s\n",
        scenarios::yaml_quoted(gpu.name), gpu.sms, gpu.fp16_flops_per_s.value_or(0),
        gpu.fp32_flops_per_s.value_or(0), gpu.bf16, gpu.memory.count, gpu.memory_bandwidth.value,
        gpu.gemm_efficiency, gpu.gemm_fill, gpu.gemm_depth, gpu.attention_forward_efficiency,
        gpu.attention_backward_efficiency, gpu.memory_efficiency, in_ns(gpu.gemm_overhead),
        in_ns(gpu.kernel_overhead), gpu.host_link.value);
    if (!gpu.kernels_file.empty())
        out += fmt::format("  kernels: {}\n", scenarios::yaml_quoted(gpu.kernels_file));
    if (gpu.threads) out += fmt::format("  threads: {}\n", *gpu.threads);
    out += fmt::format(
        "node_link:\n  kind: switched\n  bandwidth: {} B/s\n  latency: {}\n  base_latency: {}\n"
        "  half_bandwidth_size: {} B\n",
        link.bandwidth.value, in_ns(link.latency), in_ns(link.base_latency),
        link.half_bandwidth_size.count);
    out += fmt::format("network:\n  nic_bandwidth: {} B/s\n  latency: {}\n  p2p_latency: {}\n",
                       network.nic_bandwidth.value, in_ns(network.latency),
                       in_ns(network.p2p_latency));
    out += reliability_text(cluster);
    out += origins_text(cluster);
    if (cluster.measured) out += measured_text(*cluster.measured);
    return out;
}

}  // namespace debubble::exec
