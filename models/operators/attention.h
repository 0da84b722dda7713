#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "models/operators/heads.h"
#include "models/operators/value.h"

/// An attention, and what its result passes through. See models/operators/op.h.
namespace debubble::models::op {

/// The tensors that the fused kernel keeps and uses.
struct FlashKernel {
    int log_sum_exp = 0;                ///< fp32 [T, heads]
    std::optional<int> query_gradient;  ///< fp32 [T, q]
};

/// The tensors with one entry per pair of query and key.
struct Probabilities {
    int softmax = 0;
    std::optional<int> mask;  ///< bytes
    std::optional<int> dropped;
};

/// Scores, softmax and context as kernels of their own.
struct UnfusedKernel {
    Probabilities forward;
    Probabilities backward;  ///< the same, or made again
    int scores = 0;
    int probabilities_gradient = 0;
    int scores_gradient = 0;
};

/// Keys and values are passed around the context-parallel ranks, two chunks at a time.
struct RingKeys {
    int forward = 0;
    int backward = 0;
    int gradient = 0;
};

/// The keys and values of all context-parallel ranks: as sent [ranks, 2, T, kv], and in the order
/// of the sequence.
struct GatheredKeys {
    int sent = 0;
    int joined = 0;
    int sent_again = 0;
    int joined_again = 0;
    int joined_gradient = 0;
    /// The gradients that a slice gets back, to be added to the sums of later ones.
    std::optional<int> chunk_gradient;
};

/// The concatenated keys and values of the slices up to this one.
struct SeenKeys {
    int forward = 0;
    int backward = 0;
    int gradient = 0;
};

/// An output that the backward gets by repeating the all-to-all of its result.
struct ExchangedAgain {
    int out = 0;
    int exchanged = 0;
};

/// The 8-bit copies of an attention whose products are in 8 bits, which are kept instead of what
/// they were cast from.
struct NarrowAttention {
    int heads = 0;                            ///< queries, keys and values, summed along a head
    std::optional<int> heads_by_token = {};   ///< queries and keys, summed over tokens
    std::optional<int> values_by_token = {};  ///< of the forward alone
    int context_gradient = 0;                 ///< of the backward alone
    std::optional<int> context = {};          ///< where the kernel writes its result in 8 bits
    std::optional<int> heads_gradient = {};   ///< where the kernel writes gradients in 8 bits
};

/// A result that is kept in 12 bits instead of the compute type.
struct NarrowContext {
    int kept = 0;
    int wide_again = 0;  ///< [T, q] made of it for the backward
};

struct Attention {
    Heads in;
    Value out;  ///< [T, q]
    std::variant<FlashKernel, UnfusedKernel> kernel = {};
    std::optional<RingKeys> ring = {};
    std::optional<GatheredKeys> gathered = {};
    std::optional<SeenKeys> seen = {};
    std::optional<NarrowAttention> narrow = {};
    std::optional<int> packed = {};                ///< the product that the values are a view of
    std::optional<ExchangedAgain> out_again = {};  ///< not kept, but made again for the backward
    std::optional<NarrowContext> narrow_context = {};
    /// Parameter [heads]: a logit of each head that takes part in the softmax. Its gradient is made
    /// in the backward-input.
    std::optional<int> sinks = {};
    /// Of an attention that is planned alone: the choice of keys, and values of their own.
    std::vector<int> kept_beside = {};
};

/// All-to-all between context-parallel ranks, from tokens to heads or back.
struct ExchangeHeads {
    Value x;
    Value y;
    int sorted = 0;
    int sorted_gradient = 0;
};

/// y = x sigmoid(gate), all [T, columns].
struct OutputGate {
    Value x;
    Value gate;
    Value y;
    std::int64_t columns = 1;
};

/// Concatenates heads in a new tensor.
struct CopyContext {
    Value x;
    Value y;
};

}  // namespace debubble::models::op
