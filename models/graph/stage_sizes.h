#pragma once

#include <cstdint>

#include "models/execution/execution.h"
#include "models/network/architecture.h"

/// The sizes of a rank's tensors of a stage, and the tokens of its experts.
namespace debubble::models {

/// Sizes on one rank, after tensor, sequence and context parallelism. The letters of the literature
/// are in brackets.
struct Sizes {
    std::int64_t element = 2;        ///< bytes of the compute type
    std::int64_t samples = 1;        ///< [b]
    std::int64_t tokens = 1;         ///< [T] tokens of a microbatch's slice on this context rank
    std::int64_t stream_tokens = 1;  ///< [Ts] tokens of the residual stream: T / t with sequence
                                     ///< parallelism
    std::int64_t hidden = 1;         ///< [h]
    std::int64_t heads = 1;          ///< [a], or [a / t] where a layer's heads are cut
    std::int64_t kv_heads = 1;
    std::int64_t query_width = 1;    ///< [q] heads x head dimension
    std::int64_t key_width = 1;      ///< [kv]
    std::int64_t value_width = 1;    ///< key-value heads x value dimension
    std::int64_t context_width = 1;  ///< heads x value dimension
    std::int64_t ffn = 1;            ///< [f], or [f / t] where a layer's MLP is cut
    std::int64_t gates = 1;          ///< [g] 2 if gated
    std::int64_t vocab = 1;          ///< [V] with padding, or [V / t] where it is cut
    std::int64_t experts = 0;        ///< on this rank
    std::int64_t expert_rows = 0;    ///< rows that come to each of these experts
    std::int64_t expert_ffn = 0;     ///< [f] of one expert on this rank
    std::int64_t queries = 1;        ///< per sample
    std::int64_t keys = 1;           ///< keys per sample that any query of this pass may see
    std::int64_t balanced_keys = 1;  ///< value that makes the causal pair count of FlashAttention
                                     ///< exact
    int tensor = 1;                  ///< [t]
    bool scattered = false;          ///< sequence parallelism is on

    std::int64_t stream_bytes() const { return element * stream_tokens * hidden; }
    std::int64_t full_stream_bytes() const { return element * tokens * hidden; }
    std::int64_t all_expert_rows() const { return experts * expert_rows; }
};

/// The sizes of everything but a layer's own. Heads, MLP and vocabulary are not cut yet: that is
/// decided for each parameter (cuts.cpp). Throws InputError when the sequence does not divide.
Sizes sizes_of(const Architecture& architecture, const Execution& execution);
/// Sets the sizes that are a layer's: its heads, MLP and experts, of which only the experts are cut
/// already. Precondition: sizes_of accepts the network.
void size_for_layer(Sizes& size, const Architecture& architecture, const Execution& execution,
                    int layer);
std::int64_t padded_vocabulary(const Architecture& architecture, const Execution& execution);

/// The tokens of each expert on the most loaded rank of a layer, as a function of its load
/// (Execution::expert_load). Bytes of tensors of rows are linear in them.
struct ExpertRows {
    std::int64_t routed = 0;     ///< rows that a rank's own tokens make
    std::int64_t on_rank = 1;    ///< experts of a rank
    std::int64_t ranks = 1;      ///< that share the experts
    std::int64_t per_token = 1;  ///< experts of a token
    std::int64_t cuts = 1;       ///< ranks that cut each expert
    std::int64_t multiple = 1;   ///< of which rows are filled up

    std::int64_t at(double load) const;
};

/// Precondition: the layer has experts, and sizes_of (stage_sizes.h) accepts the network.
ExpertRows expert_rows_of(const Architecture& architecture, const Execution& execution, int layer);

}  // namespace debubble::models
