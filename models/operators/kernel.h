#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/units.h"
#include "models/execution/kernel_options.h"
#include "models/execution/low_precision.h"
#include "models/operators/mask.h"

/// The units of work that operators consist of. Their cost is not known here: the cost model prices
/// them, and the executor has code for each.
namespace debubble::models {

/// `batch` products of [m, k] x [k, n]; 2 batch m n k FLOPs. Operands have `element_bytes` unless
/// they are narrow; the result has them always.
struct Gemm {
    std::int64_t batch = 1;
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    Bytes accumulated;  ///< bytes read and written beyond operands and result (gradient
                        ///< accumulation)
    int element_bytes = 2;
    Narrow operands = Narrow::None;
    std::optional<std::int64_t> group_rows = {};  ///< rows of each expert in a grouped GEMM
    double pace = 1;                              ///< slowdown relative to cuBLAS
    bool recurrent = false;  ///< part of a linear recurrence, by a kernel in Triton
    friend bool operator==(const Gemm&, const Gemm&) = default;
};

/// Fused attention that never writes the scores. FLOPs as executed: per head and pair of query and
/// key a forward does 2 (d + v), with heads of d columns and values of v, and a backward 2 (3 d + 2
/// v). Causal attention has q k - q q / 2 pairs: its queries are the last q of the k keys. Under
/// context parallelism `keys` is the balanced average that makes this exact.
struct FlashAttention {
    std::int64_t batch = 1;
    std::int64_t heads = 1;
    std::int64_t kv_heads = 1;
    std::int64_t queries = 0;  ///< tokens of this slice
    std::int64_t keys = 0;     ///< tokens that they attend to: this slice and the earlier ones
    std::int64_t head_dim = 0;
    bool causal = true;
    bool backward = false;
    int element_bytes = 2;
    std::optional<std::int64_t> narrow_values = {};  ///< width of values, if not that of heads
    std::optional<std::int64_t> window = {};         ///< keys that a causal query sees at most
    std::optional<std::int64_t> chunk =
        {};  ///< the keys of a causal query restart at its multiples
    FusedAttention kernel = FusedAttention::Flash2;
    bool narrow = false;  ///< 8-bit GEMMs
    friend bool operator==(const FlashAttention&, const FlashAttention&) = default;

    std::int64_t value_dim() const { return narrow_values.value_or(head_dim); }
};

/// A memory-bound kernel: elementwise, norm, softmax, copy, gather.
struct Traffic {
    Bytes read;
    Bytes written;
    /// Its time relative to that of an average elementwise kernel for as many bytes: casts that
    /// scale by blocks and write two ways take longer.
    double pace = 1;
    std::int64_t launches = 1;  ///< consecutive kernels, such as one for every expert
    bool recurrent = false;     ///< part of a linear recurrence, by a kernel in Triton
    /// Seconds of one multiprocessor that the kernel computes, where they may take longer than the
    /// bytes: all of the device's share them.
    double busy = 0;
    friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// The routing of tokens to experts (models/network/layer.h, Experts).
struct Routing {
    std::int64_t per_token = 1;      ///< experts of each token
    std::int64_t experts = 1;        ///< of the layer, spread evenly over the group of ranks
    std::int64_t groups = 1;         ///< equal ones, in which experts lie side by side
    std::int64_t groups_chosen = 1;  ///< a token's experts are in as many of them
    friend bool operator==(const Routing&, const Routing&) = default;
};

/// Communication inside a pass. `bytes` is the size of each full (gathered, reduced) tensor; for an
/// all-to-all, of the data of all ranks together.
struct Collective {
    enum class Kind : std::uint8_t { AllReduce, AllGather, ReduceScatter, AllToAll };
    /// ContextInner and ContextOuter are the two levels of ContextCommunication::TwoLevel.
    enum class Group : std::uint8_t {
        Tensor,
        Context,
        ContextInner,
        ContextOuter,
        Data,
        Expert,
        ExpertTensor,
    };
    Kind kind{};
    Group group{};
    Bytes bytes;
    /// The next kernels of the list may run at the same time, until one that needs the result: the
    /// number of kernels that follow and do not need it (a backward's weight-gradient GEMM).
    int hidden_by = 0;
    int count = 1;  ///< number of equal calls, one after the other
    /// The GEMM or attention next to it in the list that can be split into chunks and computed as
    /// these arrive or are sent (--tp-comm-overlap; ring attention).
    enum class Pieces : std::uint8_t { None, OfNext, OfPrevious };
    Pieces pieces = Pieces::None;
    std::optional<Routing> routing = {};  ///< of an all-to-all with experts

    bool is_expert_exchange() const { return routing.has_value(); }
    friend bool operator==(const Collective&, const Collective&) = default;
};

/// The all-to-all of a layer's experts that a kernel is, or that it overlaps on a separate stream
/// (Megatron-LM's --moe-shared-expert-overlap).
enum class Beside : std::uint8_t { Nothing, Dispatch, Combine };

struct Kernel {
    std::string name;               ///< "mlp.c_fc", "attn.scores", ...
    std::optional<int> layer = {};  ///< layer of the model; unset for embedding and head
    std::variant<Gemm, FlashAttention, Traffic, Collective> work;
    Beside beside = Beside::Nothing;
    friend bool operator==(const Kernel&, const Kernel&) = default;
};

/// The mask of a kernel, and a kernel with that mask. A kernel that reads the best keys has as many
/// pairs as one with a window of that many.
Mask mask_of(const FlashAttention& attention);
void set_mask(FlashAttention& attention, const Mask& mask);

/// Query-key pairs of one head of one sample, with half of the diagonal (mask.h).
double pairs(const FlashAttention& attention);
/// Executed FLOPs of a kernel (matrix work only, as MFU counts it).
double flops(const Kernel& kernel);
/// Bytes of a product's operands and result.
std::int64_t bytes_of(const Gemm& gemm);
/// Bytes that a kernel reads and writes in device memory; 0 for a Collective.
Bytes traffic(const Kernel& kernel);

}  // namespace debubble::models
