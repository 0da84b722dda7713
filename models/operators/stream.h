#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/network/architecture.h"
#include "models/operators/value.h"

/// Norms, nonlinearities and sums of the residual stream, and its tokens on tensor-parallel ranks.
/// See models/operators/op.h.
namespace debubble::models::op {

struct Norm {
    models::Norm function{};
    Value x;                        ///< [Ts, h], or wider in latent attention
    Value y;                        ///< [Ts, h], or the first columns of x
    int gain = 0;                   ///< parameter
    std::optional<int> shift = {};  ///< parameter of a layer norm
    int statistics = 0;             ///< fp32 [Ts, 2] for a fused layer norm, [Ts] for an RMS norm
    std::optional<int> normalised = {};  ///< x normalised, of a norm that is not fused
    /// The gradient that reaches x past the branch that the norm opens: it is added.
    std::optional<int> through = {};
    std::optional<int> x_gradient_part = {};  ///< [Ts, h] gradient before the sum, where one tensor
                                              ///< is both
};

/// x as the input of a branch that no norm opens: y is the same tensor, and its gradient is added
/// to the one that reaches x past the branch.
struct OpenBranch {
    Value x;          ///< [Ts, h]
    Value y;          ///< [Ts, h]
    int through = 0;  ///< [Ts, h] may be the gradient of x
};

/// y = a + b of two branches that have one input, all [Ts, h], with one gradient.
struct AddBranches {
    Value a;
    Value b;
    Value y;
};

/// The nonlinearity of an MLP; a gated one reads gate and value side by side.
struct Activation {
    /// The weight of each row, applied here instead of where rows are combined.
    struct RowWeights {
        int rows = 0;      ///< fp32 [rows]
        int gradient = 0;  ///< gradient of the router's weights
    };
    models::Activation function{};
    Value x;  ///< [rows, columns], twice the columns if gated
    Value y;  ///< [rows, columns]
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    bool of_experts = false;           ///< rows are planned: a router may send fewer
    std::optional<int> silu = {};      ///< silu of a gated one that is not fused, kept
    std::optional<int> x_narrow = {};  ///< x in 8 bits, kept instead of it
    std::optional<RowWeights> weights = {};

    bool gated() const { return is_gated(function); }
};

/// y = x + dropout(branch), all [Ts, h].
struct Residual {
    int x = 0;
    int branch = 0;
    int y = 0;
    int gradient = 0;         ///< gradient of y, and of x
    int branch_gradient = 0;  ///< the same tensor where nothing is dropped
    std::optional<int> mask;  ///< bytes
    std::optional<int> dropped;
};

/// Every rank's columns side by side, [T, columns] from [T, columns / t]; gradients are sliced.
struct GatherColumns {
    Value x;
    Value y;
    std::int64_t columns = 1;
};

/// A rank's columns, [T, columns / t] from [T, columns]; gradients are gathered.
struct SliceColumns {
    Value x;
    Value y;
    std::int64_t columns = 1;
};

/// A rank's tokens of the residual stream, of a value that all tensor-parallel ranks have;
/// gradients are gathered.
struct ScatterTokens {
    Value x;  ///< [T, h]
    Value y;  ///< [Ts, h]
};

/// a and b side by side.
struct Concat {
    Value a;  ///< [Ts, h]
    Value b;  ///< [Ts, h]
    Value y;  ///< [Ts, 2 h]
};

/// Several streams one below the other; their gradients are cut out of that of all.
struct StackStreams {
    std::vector<Value> parts;  ///< each [Ts, h]
    Value all;                 ///< [parts, Ts, h]
};

/// The streams of which one is several; their gradients are stacked.
struct SplitStreams {
    Value all;                 ///< [parts, Ts, h]
    std::vector<Value> parts;  ///< each [Ts, h]
};

}  // namespace debubble::models::op
