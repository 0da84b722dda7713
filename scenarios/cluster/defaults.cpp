#include "scenarios/cluster/reader.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace debubble::scenarios {
namespace {

constexpr const char* kFit =
    "fitted to 53 training steps of Megatron-DeepSpeed on 64 to 512 A100, with identical devices";
constexpr const char* kBesideFit = "as in dgx-a100-80gb, where the fit did not depend on it";
constexpr const char* kNccl = "as in dgx-a100-80gb: NCCL all-reduces over GPUs of one node";
constexpr const char* kFlash = "FlashAttention-2 on A100 (Dao, 2307.08691, figures 4 to 6)";
constexpr const char* kProducts =
    "between those of A100 and GB300, fitted to GEMMs measured by ai-dynamo/aiconfigurator";
constexpr const char* kNeutral = "no loss, unless the file gives one";
constexpr const char* kNone = "no such matrix units, unless the file gives them";
constexpr const char* kUnknown = "unknown, unless the file gives it";

struct SourceOfDefault {
    std::string_view key;
    const char* source;
};

/// The values are those of the reader's table.
constexpr SourceOfDefault kSources[] = {
    {"host_adam_parameters_per_s", "ZeRO-Offload (2101.06840, table 4)"},
    {"gpu.fp16_flops", kUnknown},
    {"gpu.fp8_flops", kNone},
    {"gpu.fp4_flops", kNone},
    {"gpu.fp32_flops", kUnknown},
    {"gpu.bf16", "most devices have matrix units for bf16"},
    {"gpu.gemm_efficiency", kFit},
    {"gpu.fp8_gemm_efficiency", "GEMMs of 8192 x 8192 x 8192 on H100, without casts"},
    {"gpu.fp4_gemm_efficiency", "as in hgx-b300, from TransformerEngine's benchmark of a layer"},
    {"gpu.gemm_fill", kProducts},
    {"gpu.gemm_depth", kProducts},
    {"gpu.fp8_gemm_depth", kProducts},
    {"gpu.sustained_clock", kNeutral},
    {"gpu.fp8_sustained_clock", "as gpu.sustained_clock"},
    {"gpu.clock_spread", "all devices are identical, unless the file says otherwise"},
    {"gpu.power", kUnknown},
    {"gpu.power_limit", "only its own limit, unless the file gives another"},
    {"gpu.attention_forward_efficiency", kFlash},
    {"gpu.attention_backward_efficiency", kFlash},
    {"gpu.attention_narrow_heads", kFlash},
    {"gpu.memory_efficiency", kFit},
    {"gpu.recurrence_efficiency", "as for H100, unless the file says otherwise"},
    {"gpu.gemm_overhead", kBesideFit},
    {"gpu.kernel_overhead", kBesideFit},
    {"gpu.host_link", kBesideFit},
    {"node_link.kind", "as for nodes with NVSwitch"},
    {"node_link.efficiency", kNeutral},
    {"node_link.latency", kNccl},
    {"node_link.base_latency", kNccl},
    {"node_link.half_bandwidth_size", kNccl},
    {"node_link.all_reduce_bandwidth", "as for all-gathers, unless the file says otherwise"},
    {"node_link.all_to_all_bandwidth", "as for all-gathers, unless the file says otherwise"},
    {"network.nics_per_node", kUnknown},
    {"network.efficiency", kFit},
    {"network.latency", kBesideFit},
    {"network.p2p_latency", kBesideFit},
    {"network.oversubscription", kNeutral},
    {"network.nodes_per_leaf", "one leaf for all nodes"}};

std::vector<DefaultConstant> all_defaults() {
    const std::vector<text::Key> keys = cluster_keys();
    std::vector<DefaultConstant> all;
    for (const text::KeyAt& at : text::flattened(keys)) {
        const auto* const row = std::ranges::find(kSources, at.path, &SourceOfDefault::key);
        if (row != std::end(kSources)) all.push_back({at.path, at.key->otherwise, row->source});
    }
    return all;
}

}  // namespace

std::vector<DefaultConstant> defaults_of(const Cluster& cluster) {
    static const std::vector<DefaultConstant> kAll = all_defaults();
    std::vector<DefaultConstant> left = kAll;
    std::erase_if(left, [&](const DefaultConstant& d) { return cluster.origins.contains(d.key); });
    return left;
}

}  // namespace debubble::scenarios
