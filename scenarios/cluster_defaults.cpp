#include "scenarios/cluster_defaults.h"

#include <fmt/format.h>

namespace debubble::scenarios {
namespace {

constexpr const char* kFit =
    "fitted on 53 training steps of Megatron-DeepSpeed on 64 to 512 A100, as in dgx-a100-80gb";
constexpr const char* kBesideFit = "as in dgx-a100-80gb, where a fit did not depend on it";
constexpr const char* kNccl = "as in dgx-a100-80gb: NCCL all-reduces over GPUs of one node";
constexpr const char* kFlash = "FlashAttention-2 on A100 (Dao, 2307.08691, figures 4 to 6)";
constexpr const char* kNeutral = "nothing is lost, unless the file says so";
constexpr const char* kUnknown = "not known, unless the file says so";

std::string microseconds(Duration d) {
    return fmt::format("{:.6g} us", seconds(d) * 1e6);
}

std::string gigabytes_per_s(BytesPerSecond rate) {
    return fmt::format("{:.6g} GB/s", rate.value / 1e9);
}

std::string yes_or_no(bool flag) {
    return flag ? "true" : "false";
}

std::vector<DefaultConstant> of_gpu() {
    const Gpu gpu;
    return {{"gpu.fp16_flops", "0 FLOP/s", kUnknown},
            {"gpu.fp32_flops", "0 FLOP/s", kUnknown},
            {"gpu.bf16", yes_or_no(gpu.bf16), "most devices have matrix units for bf16"},
            {"gpu.gemm_efficiency", fmt::format("{}", gpu.gemm_efficiency), kFit},
            {"gpu.attention_forward_efficiency",
             fmt::format("{}", gpu.attention_forward_efficiency), kFlash},
            {"gpu.attention_backward_efficiency",
             fmt::format("{}", gpu.attention_backward_efficiency), kFlash},
            {"gpu.memory_efficiency", fmt::format("{}", gpu.memory_efficiency), kFit},
            {"gpu.gemm_overhead", microseconds(gpu.gemm_overhead), kBesideFit},
            {"gpu.kernel_overhead", microseconds(gpu.kernel_overhead), kBesideFit},
            {"gpu.host_link", gigabytes_per_s(gpu.host_link), kBesideFit}};
}

std::vector<DefaultConstant> of_node_link() {
    const NodeLink link;
    return {{"node_link.kind", "switched", "as nodes with NVSwitch"},
            {"node_link.efficiency", fmt::format("{}", link.efficiency), kNeutral},
            {"node_link.latency", microseconds(link.latency), kNccl},
            {"node_link.base_latency", microseconds(link.base_latency), kNccl},
            {"node_link.half_bandwidth_size", fmt::format("{} B", link.half_bandwidth_size.count),
             kNccl},
            {"node_link.in_network_reduction", yes_or_no(link.in_network_reduction),
             "no NVLink SHARP, unless the file says so"}};
}

std::vector<DefaultConstant> of_network() {
    const NodeNetwork network;
    return {{"network.nics_per_node", fmt::format("{}", network.nics_per_node), kUnknown},
            {"network.efficiency", fmt::format("{}", network.efficiency), kFit},
            {"network.latency", microseconds(network.latency), kBesideFit},
            {"network.p2p_latency", microseconds(network.p2p_latency), kBesideFit},
            {"network.oversubscription", fmt::format("{}", network.oversubscription), kNeutral},
            {"network.nodes_per_leaf", fmt::format("{}", network.nodes_per_leaf),
             "one leaf for all nodes"}};
}

}  // namespace

std::vector<DefaultConstant> defaults_of(const Cluster& cluster) {
    std::vector<DefaultConstant> all = of_gpu();
    for (auto part : {of_node_link(), of_network()})
        all.insert(all.end(), part.begin(), part.end());
    all.push_back({"host_adam_parameters_per_s",
                   fmt::format("{:.4g}", Cluster().host_adam_parameters_per_s),
                   "ZeRO-Offload (2101.06840, table 4)"});
    std::erase_if(all, [&](const DefaultConstant& d) { return cluster.origins.contains(d.key); });
    return all;
}

}  // namespace debubble::scenarios
