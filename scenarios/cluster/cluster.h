#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared_map.h"
#include "base/units.h"
#include "models/execution/kernel_options.h"
#include "models/execution/low_precision.h"
#include "text/document.h"

/// The machine, as data with sources. Written as YAML in scenarios/clusters/.
namespace debubble::scenarios {

struct KernelTable;

/// The kind of source of a constant; every prediction repeats it.
enum class Provenance { Datasheet, Measured, Fitted, Assumed };
std::string_view name_of(Provenance provenance);  ///< "datasheet", ...

/// Shares of the device's fp16 peak that a kernel of fused attention reaches, by tokens of the
/// sequence, with causal heads of 128; FLOPs are those of the half that counts. Shares between two
/// lengths follow the logarithm of the length.
struct AttentionRates {
    std::map<std::int64_t, double> forward;
    std::map<std::int64_t, double> backward;
    friend bool operator==(const AttentionRates&, const AttentionRates&) = default;
};
/// A kernel in 16 bits, or the same in 8.
struct AttentionKernelOf {
    models::FusedAttention kernel{};
    bool narrow = false;
    friend auto operator<=>(const AttentionKernelOf&, const AttentionKernelOf&) = default;
};

/// The peak rates of a device, and the shares of them that kernels reach.
struct Gpu {
    std::string name;
    int sms = 1;  ///< streaming multiprocessors: GEMM tiles run in waves of these
    std::optional<double> fp16_flops_per_s;  ///< dense tensor-core peak, bf16 the same, if known
    bool bf16 = true;  ///< has matrix units for bf16; without them bf16 is far slower
    std::optional<double> fp8_flops_per_s;  ///< dense peak of 8-bit GEMMs, if it has them
    /// Dense peak of 4-bit GEMMs with a scale per block, if it has them. Such a device scales 8-bit
    /// blocks in its matrix units, too (MXFP8), and takes 8-bit operands as they lie.
    std::optional<double> fp4_flops_per_s;
    std::optional<double> fp32_flops_per_s;  ///< rate of fp32 GEMMs (TF32 not assumed), if known
    Bytes memory;                            ///< the bytes that a process can allocate
    BytesPerSecond memory_bandwidth;         ///< from the datasheet
    double gemm_efficiency = 0.825;  ///< share of the peak that a very large GEMM of the best tile
                                     ///< reaches
    /// The part of a last, partly filled wave of tiles that costs nothing: smaller tiles and sums
    /// cut along k fill the multiprocessors.
    double gemm_fill = 0.8;
    double gemm_depth = 150;  ///< the sum along k that a tile's beginning and end cost as much as
    double fp8_gemm_depth = 300;        ///< the same of 8-bit GEMMs
    double fp8_gemm_efficiency = 0.81;  ///< the same of 8-bit GEMMs
    double fp4_gemm_efficiency = 0.37;  ///< the same in 4 bits
    /// The share of these rates, measured with few kernels, that a long training keeps: the power
    /// limit slows the clock of the matrix units.
    double sustained_clock = 1;
    std::optional<double>
        fp8_sustained_clock;            ///< the same of 8-bit and 4-bit GEMMs, if it differs
    double chip = 1;                    ///< the clock of this device relative to others of its kind
    std::optional<double> power;        ///< watts under which that share was measured, if known
    std::optional<double> power_limit;  ///< watts that the device may take, if they differ

    /// The standard deviation of the clocks of such devices, as a share of their mean.
    double clock_spread = 0;

    /// The clock under the limit. Dynamic power is f V^2, and voltage follows frequency, so that
    /// the clock goes by the cube root of what memory, links and leakage leave of the power.
    double kept_clock() const { return kept_clock(models::Narrow::None); }
    double kept_clock(models::Narrow operands) const;
    /// The clock of kernels whose rates were measured as steps have them.
    double clock_of_sustained() const { return clock_under_limit() * chip; }
    /// Share of the same peak that flash attention of heads wider than 64 reaches on long
    /// sequences, FLOPs as executed. The default is FlashAttention-2's on A100 (Dao, 2307.08691,
    /// figures 4 to 6).
    double attention_forward_efficiency = 0.70;
    double attention_backward_efficiency = 0.60;
    double attention_narrow_heads = 0.84;  ///< the rate of heads of up to 64 relative to wider ones
    /// The shares of kernels that are known for this device; others follow from the two above.
    std::map<AttentionKernelOf, AttentionRates> attention_rates;
    /// Kernels that were measured on such a device, which go before the laws; none: null.
    std::shared_ptr<const KernelTable> kernels;
    std::string kernels_file;         ///< where they were read from
    double memory_efficiency = 0.74;  ///< share of the bandwidth that elementwise kernels reach on
                                      ///< average
    /// The rate of the kernels of a linear recurrence (Triton's), relative to that which such
    /// kernels reach on H100 by its memory's bandwidth.
    double recurrence_efficiency = 1;
    Duration gemm_overhead{3000};    ///< added for each kernel
    Duration kernel_overhead{2000};  ///< added for each memory-bound kernel
    BytesPerSecond host_link{25e9};  ///< device to pinned host memory, one direction
    /// Threads of a processor that make up one such "GPU"; unset for a real one.
    std::optional<int> threads = {};
    friend bool operator==(const Gpu&, const Gpu&) = default;

private:
    double clock_under_limit() const;
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
    BytesPerSecond bandwidth;  ///< per GPU, in one direction
    double efficiency = 1;     ///< share of it that the collective library reaches (bus bandwidth)
    /// The share for groups of this many GPUs, where it differs: the greatest key that is not above
    /// the group counts. A mesh of links gives small groups less.
    std::map<int, double> group_efficiency;
    Duration latency{2800};        ///< added for each hop of a collective
    Duration base_latency{29000};  ///< added for every collective
    /// The message size at which half of the bandwidth is reached; the share grows as 1 / (1 +
    /// sqrt(half / size)).
    Bytes half_bandwidth_size{307'000};
    /// The bandwidth of an all-reduce and of an all-to-all inside a node, relative to that of
    /// gathers. Switches that add (NVLS) are in the first.
    double all_reduce_bandwidth = 1;
    double all_to_all_bandwidth = 1;
    friend bool operator==(const NodeLink&, const NodeLink&) = default;
};

/// The network between nodes: rails of NICs into leaf switches, spines above.
struct NodeNetwork {
    int nics_per_node = 1;
    BytesPerSecond nic_bandwidth;       ///< in one direction
    double efficiency = 0.84;           ///< share of it that large messages reach
    Duration latency{20000};            ///< added for each hop of a collective
    Duration p2p_latency{120000};       ///< time of one point-to-point message, software included
    double oversubscription = 1;        ///< ratio of bandwidth from leaf to spine
    std::optional<int> nodes_per_leaf;  ///< unset: one leaf for all nodes
    friend bool operator==(const NodeNetwork&, const NodeNetwork&) = default;
};

struct Measured;  // scenarios/cluster/measured.h

struct Cluster {
    std::string name;
    std::string source;
    Gpu gpu;
    int gpus_per_node = 1;
    /// GPUs of a tray, several of which make a node by one NVLink domain: jobs that need more than
    /// a node take equal numbers of trays in each. Unset: a node is one machine.
    std::optional<int> gpus_per_tray;
    int nodes = 1;  ///< nodes of a scenario that does not name a number
    NodeLink node_link;
    NodeNetwork network;
    std::optional<Bytes> host_memory;  ///< of a node; unset: not known
    std::optional<double> node_power;  ///< watts that a node takes at most, GPUs and all, if known
    /// The rate of Adam on all processors of a node together (ZeRO-Offload, 2101.06840, table 4).
    double host_adam_parameters_per_s = 4.2e9;
    /// The source of a constant: its kind and a sentence. They are kept by dotted key.
    struct Origin {
        Provenance provenance = Provenance::Assumed;
        std::string source;
        friend bool operator==(const Origin&, const Origin&) = default;
    };
    SharedMap<std::string, Origin> origins;
    /// What is known of its failures and measured of its saves and restarts, as `reliability` of a
    /// scenario has it; null: nothing. Shared by all copies, and equal only to itself.
    text::NodePtr reliability;
    /// The results of `debubble calibrate`; null for machines that were not calibrated. Shared by
    /// all copies, and equal only to itself.
    std::shared_ptr<const Measured> measured;
    friend bool operator==(const Cluster&, const Cluster&) = default;
};

}  // namespace debubble::scenarios
