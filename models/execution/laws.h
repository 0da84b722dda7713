#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Constants of the cost model that hold for every cluster and framework:
/// scenarios/laws/constants.json with the source of each (docs/cost-model.md).
namespace debubble::models {

/// A tile of a GEMM, and its rate relative to the best one.
struct GemmTile {
    double rows = 0;
    double columns = 0;
    double rate = 0;
};
/// A protocol of NCCL's rings: the time of a hop inside a node and between nodes, relative to the
/// cluster's latencies, and the share of the bandwidth.
struct RingProtocol {
    double near_hop = 1;
    double far_hop = 1;
    double bandwidth = 1;
};

struct Laws {
    // GEMMs
    std::vector<GemmTile> gemm_tiles;
    double fp8_scaled_inside = 0;  ///< rate of 8-bit products with a scale per block, relative to
                                   ///< one per tensor, where matrix units scale
    double fp8_scaled_beside = 0;  ///< the same where partial sums are scaled
    double tf32_time = 0;          ///< of products of fp32 in TF32, relative to 16 bits
    /// The rows of an expert whose time a grouped GEMM takes beyond that of its own; the same where
    /// rows are summed over.
    double expert_rows = 0;
    double expert_rows_summed = 0;
    // attention
    double attention_block = 0;  ///< queries and keys per block
    double older_attention = 0;  ///< rate of FlashAttention of 2022 and Triton's, relative to
                                 ///< FlashAttention-2, where a device's file has none of theirs
    // choices of keys: seconds of one multiprocessor
    double chosen_row = 0;  ///< for each query that chooses
    double chosen_key = 0;  ///< for each key that it scores
    // state-space scans
    double exponentials = 0;  ///< a second, of one multiprocessor
    // casts: time relative to an average elementwise kernel that moves as many bytes
    double tensor_cast = 0;  ///< of both ways, with one scale
    double block_cast = 0;   ///< of both ways, with a scale per block
    double nvfp4_cast = 0;   ///< with Hadamard transform and stochastic rounding
    double amax_pass = 0;    ///< the search for the largest magnitude
    // clocks
    double clockless_power = 0;  ///< share of the power that does not follow the clock
    double least_clock = 0;      ///< of the slowest device, relative to the mean
    // host
    double host_norm = 0;  ///< the norm of device and host
    // communication that overlaps kernels
    double exchange_stretch = 0;  ///< slowdown when it overlaps kernels
    double nccl_sms = 0;          ///< multiprocessors that its kernels take
    double deepep_sms = 0;
    double hybridep_sms = 0;
    int pieces_of_reduction = 0;  ///< of a GEMM that is reduced chunk by chunk
    // expert-parallel ranks waiting for each other
    double waiting_share = 0;  ///< of the all-to-alls' time
    int waiting_ranks = 0;
    double waiting_exchanges = 0;  ///< ms
    double waiting_kernels = 0;    ///< ms
    // collectives
    double tree_bandwidth = 0;  ///< share of a ring's
    std::vector<RingProtocol> nccl_protocols;
    double hybridep_hops = 0;  ///< the norm of the times of both hops of an all-to-all
    double deepep_hops = 0;
    // optimizers: bytes of a parameter's step on fp32 state
    double fused_adam_bytes = 0;
    double foreach_adam_bytes = 0;
    double per_tensor_adam_bytes = 0;
};

/// A constant with its source.
struct LawConstant {
    std::string name;
    std::string value;       ///< as the file has it
    std::string provenance;  ///< "measured", ...
    std::string source;
};

/// The shipped constants, which are read once. Throws InputError if the file is not as it should
/// be. Thread-safe.
const Laws& laws();
/// The same with their sources, in the order of the file.
const std::vector<LawConstant>& law_constants();

/// The contents of a file of laws. Throws InputError that lists every mistake.
struct LawFile {
    Laws laws;
    std::vector<LawConstant> constants;
};
LawFile parse_laws(const std::string& text, const std::string& file);

}  // namespace debubble::models
