#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

/// The machine, as data with sources. Written in YAML in scenarios/clusters/.
namespace debubble::scenarios {

/// Where a constant comes from; every prediction repeats it.
enum class Provenance { Datasheet, Measured, Fitted, Assumed };
std::string_view name_of(Provenance provenance);  ///< "datasheet", ...

/// What the device does on its best day, and what kernels reach of it.
struct Gpu {
    std::string name;
    int sms = 1;                  ///< streaming multiprocessors: GEMM tiles run in waves of these
    double fp16_flops_per_s = 0;  ///< dense tensor-core peak, bf16 alike; 0 = unknown
    bool bf16 = true;             ///< has matrix units for bf16; without, it runs far below that
    double fp32_flops_per_s = 0;  ///< of fp32 GEMMs (TF32 not assumed)
    Bytes memory;                 ///< what a process can allocate
    BytesPerSecond memory_bandwidth;  ///< datasheet
    double gemm_efficiency = 0.825;  ///< of the peak, that an endless GEMM of the best tile reaches
    /// Of the same peak, that flash attention of heads wider than 64 reaches on long sequences,
    /// FLOPs as executed. As FlashAttention-2 does on A100 (Dao, 2307.08691, figures 4 to 6).
    double attention_forward_efficiency = 0.70;
    double attention_backward_efficiency = 0.60;
    double memory_efficiency =
        0.74;                      ///< of the bandwidth, that elementwise kernels reach on average
    Duration gemm_overhead{3000};  ///< per kernel, added
    Duration kernel_overhead{2000};  ///< per memory-bound kernel, added
    BytesPerSecond host_link{25e9};  ///< device to pinned host memory, one direction
    /// Threads of a processor that are one such "GPU"; unset: it is one.
    std::optional<int> threads = {};
    friend bool operator==(const Gpu&, const Gpu&) = default;
};

/// A tier of the network inside a node.
struct NodeLink {
    enum class Kind {
        Switched,
        Ring,
        Pairs,
        Pcie
    };  ///< NVSwitch; NVLink mesh; NVLink bridges; PCIe
    Kind kind = Kind::Switched;
    BytesPerSecond bandwidth;  ///< per GPU, one direction
    double efficiency = 1;     ///< of it, that the collective library reaches (bus bandwidth)
    /// The same for groups of this many GPUs, where it differs: the greatest key that is not
    /// above the group counts. A mesh of links gives small groups less.
    std::map<int, double> group_efficiency;
    Duration latency{2800};        ///< per hop of a collective
    Duration base_latency{29000};  ///< of any collective
    /// Message at which half of the bandwidth is reached; it grows as 1 / (1 + sqrt(half / size)).
    Bytes half_bandwidth_size{307'000};
    bool in_network_reduction = false;  ///< NVLS
    friend bool operator==(const NodeLink&, const NodeLink&) = default;
};

/// The network between nodes: rails of NICs into leaf switches, spines above.
struct NodeNetwork {
    int nics_per_node = 1;
    BytesPerSecond nic_bandwidth;  ///< one direction
    double efficiency = 0.84;      ///< of it, that large messages reach
    Duration latency{20000};       ///< per hop of a collective
    Duration p2p_latency{120000};  ///< of one point-to-point message, software included
    double oversubscription = 1;   ///< leaf to spine
    int nodes_per_leaf = 0;        ///< 0: one leaf for all
    friend bool operator==(const NodeNetwork&, const NodeNetwork&) = default;
};

struct Measured;  // scenarios/measured.h

struct Cluster {
    std::string name;
    std::string source;
    Gpu gpu;
    int gpus_per_node = 1;
    int nodes = 1;  ///< that a scenario gets when it does not say
    NodeLink node_link;
    NodeNetwork network;
    /// Of Adam on the node's processors, all together (ZeRO-Offload, 2101.06840, table 4).
    double host_adam_parameters_per_s = 4.2e9;
    /// Constant (dotted key) -> where it comes from and a sentence.
    struct Origin {
        Provenance provenance = Provenance::Assumed;
        std::string source;
        friend bool operator==(const Origin&, const Origin&) = default;
    };
    std::map<std::string, Origin> origins;
    /// What `debubble calibrate` found; nothing for machines that were not calibrated. Shared by
    /// all copies, and equal only to itself.
    std::shared_ptr<const Measured> measured;
    friend bool operator==(const Cluster&, const Cluster&) = default;
};

}  // namespace debubble::scenarios
