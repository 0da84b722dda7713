#pragma once

#include "scenarios/cluster/cluster.h"

/// Machines for tests of prices: round figures close to published ones.
namespace debubble::sim {

inline scenarios::Gpu a100() {
    scenarios::Gpu gpu;
    gpu.name = "A100";
    gpu.sms = 108;
    gpu.fp16_flops_per_s = 312e12;
    gpu.fp32_flops_per_s = 19.5e12;
    gpu.memory = Bytes{79LL << 30};
    gpu.memory_bandwidth = {2039e9};
    gpu.gemm_efficiency = 0.868;
    gpu.memory_efficiency = 0.608;
    return gpu;
}

inline scenarios::Cluster dgx_a100() {
    scenarios::Cluster cluster;
    cluster.name = "dgx-a100";
    cluster.gpu = a100();
    cluster.gpus_per_node = 8;
    cluster.nodes = 64;
    cluster.node_link.kind = scenarios::NodeLink::Kind::Switched;
    cluster.node_link.bandwidth = {300e9};
    cluster.node_link.group_efficiency = {{2, 0.647}, {4, 0.747}, {8, 0.770}};
    cluster.network.nics_per_node = 8;
    cluster.network.nic_bandwidth = {12.5e9};
    return cluster;
}

/// The mesh of a DGX-1: two GPUs share one link, four have rings over four, eight over all.
inline scenarios::Cluster dgx_v100() {
    scenarios::Cluster cluster = dgx_a100();
    cluster.name = "dgx-v100";
    cluster.node_link.kind = scenarios::NodeLink::Kind::Ring;
    cluster.node_link.bandwidth = {150e9};
    cluster.node_link.group_efficiency = {{2, 0.153}, {4, 0.573}, {8, 0.913}};
    cluster.node_link.latency = Duration{4210};
    cluster.node_link.base_latency = Duration{22400};
    cluster.node_link.half_bandwidth_size = {};
    return cluster;
}

}  // namespace debubble::sim
