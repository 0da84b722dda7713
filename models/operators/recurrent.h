#pragma once

#include <cstdint>
#include <optional>

#include "models/network/architecture.h"
#include "models/operators/value.h"

/// State-space layers and gated delta nets. See models/operators/op.h.
namespace debubble::models::op {

/// y = SiLU of the causal convolution of each of the first columns of x.
struct Convolution {
    Value x;         ///< [T, at least columns]
    Value y;         ///< [T, columns]
    int weight = 0;  ///< parameter [columns of all ranks, 1, taps]
    std::int64_t tokens = 1;
    std::int64_t columns = 1;
};

/// Mamba-2's convolution, scan and gate in one function. With [P] columns of a head, [N] values of
/// its state for each, [G] groups, [C] tokens of a chunk: the columns of `in` are gate and values,
/// [heads P] each, B and C, [G N] each, and a step for each head.
struct StateSpaceScan {
    models::Mamba part;  ///< with the heads and groups of this rank
    std::int64_t tokens = 1;
    std::int64_t chunks = 1;  ///< of all sequences
    Value in;
    Value out;                                 ///< [T, heads P]
    int convolution = 0;                       ///< parameter
    std::optional<int> convolution_bias = {};  ///< parameter
    int decay = 0;                             ///< parameter A_log [heads of all ranks]
    int skip = 0;                              ///< parameter D
    int step_bias = 0;                         ///< parameter
    int ungated = 0;                           ///< [T, heads P] before the gate, kept
    int convolved = 0;                         ///< [T, heads P + 2 G N]
    int convolved_again = 0;
    int convolved_gradient = 0;
    int scores = 0;  ///< fp32 [chunks, G, C, C]
    int scores_again = 0;
    int states = 0;  ///< fp32 [chunks, heads, P, N]
    int states_again = 0;
    int states_gradient = 0;
};

/// The chunk rule of gated delta nets. [k] and [v] are the widths of a head, [C] the tokens of a
/// chunk; heads are the value heads.
struct DeltaRule {
    models::DeltaNet part;  ///< with the heads of this rank
    std::int64_t tokens = 1;
    std::int64_t chunks = 1;  ///< of all sequences
    Value convolved;          ///< [T, queries, keys, values]
    Value projected;          ///< the layer's products, with the rates of each head
    Value out;                ///< [T, heads v]
    int decay = 0;            ///< parameter A_log [value heads of all ranks]
    int rate_bias = 0;        ///< parameter
    int heads = 0;  ///< [T, heads (2 k + v)] normalised queries and keys, and values, kept
    int heads_gradient = 0;
    int rates = 0;    ///< [T, heads] decays in fp32 and rates of correction, kept
    int inverse = 0;  ///< [T, heads C] of the chunks' triangular systems, kept
    int updates = 0;  ///< [T, heads (k + v)]
    int updates_again = 0;
    int states = 0;  ///< [chunks, heads, k, v]
    int states_again = 0;
    int states_gradient = 0;
};

/// RMS norms of equal groups of columns, times SiLU(gate) if there is one.
struct GroupedNorm {
    Value x;                    ///< [T, columns]
    std::optional<Value> gate;  ///< [T, at least columns]
    Value y;                    ///< [T, columns]
    int gain = 0;               ///< parameter: of all columns, or of one group's
    int statistics = 0;         ///< fp32 [T, groups]
    std::int64_t tokens = 1;
    std::int64_t columns = 1;
    std::int64_t groups = 1;
};

}  // namespace debubble::models::op
