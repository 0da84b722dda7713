#pragma once

#include <cstdint>
#include <optional>

#include "models/operators/value.h"

/// Mixtures of experts. See models/operators/op.h.
namespace debubble::models::op {

/// y = branch sigmoid(tokens w), one logit for each token.
struct SharedGate {
    int weight = 0;  ///< parameter [1, h]
    Value tokens;    ///< [Ts, h]; the gradient is added to
    Value branch;    ///< [Ts, h]
    Value y;         ///< [Ts, h]
    int scores = 0;  ///< fp32 [Ts]
};

/// The choice of experts for each token, and their weights.
struct Router {
    int gate = 0;             ///< parameter [experts, h]
    std::optional<int> bias;  ///< parameter [experts]
    Value tokens;             ///< [Ts, h]; the gradient is added to
    Value weights;            ///< fp32 [Ts, experts of the model], zero for experts that a token
                              ///< does not go to
    int logits = 0;           ///< [Ts, experts]; kept where the backward needs them
    int logits_gradient = 0;  ///< [Ts, experts]
    int tokens_gradient_part = 0;  ///< [Ts, h]
    bool keeps_logits = false;
    /// In fp32, the operands of the products that are made in fp32 though the training is in 16
    /// bits. Set where the logits are: the three tensors above are then in fp32 too, and
    /// `logits_gradient` is the gradient of the weights, in whose place it is made.
    struct Wide {
        int gate = 0;           ///< [experts, h], of the gradient of the tokens
        int tokens = 0;         ///< [Ts, h], of that of the gate
        int gate_gradient = 0;  ///< [experts, h], which is added to the gate's
    };
    std::optional<Wide> wide = {};
    /// StageGraph::buffers [experts]: is added to scores for the choice alone.
    std::optional<int> correction = {};
    /// fp32 [sequences, experts], or [1, experts]: how many of the tokens that share a term of the
    /// loss have each expert among their best, kept where the loss has such a term.
    std::optional<int> counts = {};
    /// fp32 [Ts, experts]: the weights without those of tokens that an expert beyond its capacity
    /// drops, where experts have one. Rows follow these.
    std::optional<int> kept = {};
    std::int64_t capacity = 0;  ///< tokens of this rank that an expert takes at most
};

/// Sorts each token's rows by the experts of the model that its weights name.
struct Permute {
    Value tokens;     ///< [Ts, h]
    Value rows;       ///< [Ts k, h]
    int weights = 0;  ///< the router's weights, or those that it kept
    /// Gradient of the router's weights, where a token's row is multiplied by its weight.
    std::optional<int> weights_gradient = {};
};

/// Moves rows on their way to the experts, or back. Gradients go the other way.
struct Dispatch {
    enum class Kind : std::uint8_t {
        Exchange,  ///< between the ranks that share the experts: those of a rank's experts are side
                   ///< by side at first, those of a sender then
        Gather,    ///< of the ranks that cut each expert; on the way back their sums are scattered
        Sort,      ///< of each sender's rows by expert into each expert's rows by sender
    };
    Kind kind{};
    bool returns = false;  ///< from the experts
    Value x;               ///< [rows, h], as many as came
    Value y;               ///< [rows, h]
};

/// The weighted sum of the outputs of a token's experts.
struct Combine {
    struct Weighed {
        Value weights;  ///< the router's weights
        int rows = 0;
        int rows_gradient = 0;
    };
    Value rows;       ///< [Ts k, h]
    Value y;          ///< [Ts, h]
    int weights = 0;  ///< the router's weights, or those that it kept: whose rows they are
    /// Unset if the experts' activation has applied the weights, or their input had them.
    std::optional<Weighed> weighed;
};

}  // namespace debubble::models::op
