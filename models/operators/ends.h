#pragma once

#include <cstdint>
#include <optional>

#include "models/execution/execution.h"
#include "models/network/sharding.h"
#include "models/operators/products.h"
#include "models/operators/value.h"

/// The operators before and after the layers. See models/operators/op.h.
namespace debubble::models::op {

// The operators before the layers. See models/operators/op.h.

/// Looks up the rows of a table by token.
struct TokenEmbedding {
    int table = 0;  ///< parameter [V, h or h / t]
    Sharding sharding{};
    bool scaled = false;                   ///< y is multiplied by the root of h
    int ahead = 0;                         ///< tokens are those that come so many places later
    int tokens = 0;                        ///< int32 [T]
    Value y;                               ///< [Ts, h], or [T, h / t] for a table cut by columns
    std::optional<int> partial;            ///< [T, h] before sequence parallelism scatters the sum
    std::optional<int> gathered_gradient;  ///< [T, h] gradient of y, from all of its ranks
    std::optional<int> table_gradient;     ///< set where it is made apart from the main gradient
};

/// Learned positions, dropout, or both.
struct PositionEmbedding {
    /// A table cut by columns is gathered before the sum.
    struct GatheredTable {
        int part = 0;
        int whole = 0;
    };
    struct Table {
        int parameter = 0;  ///< [positions, h or h / t]
        std::optional<GatheredTable> gathered;
        std::optional<int> gradient;  ///< set where it is made apart from the main gradient
    };
    int x = 0;         ///< [Ts, h]
    int y = 0;         ///< [Ts, h]
    int gradient = 0;  ///< of both
    std::optional<Table> table;
    std::optional<int> mask;  ///< bytes
};

/// The class token before the patches of each image, and learned positions.
struct ClassToken {
    Value patches;            ///< [b, patches, h]
    Value y;                  ///< [b, 1 + patches, h]
    int token = 0;            ///< parameter
    int positions = 0;        ///< parameter
    std::optional<int> mask;  ///< bytes
};

// The operators after the layers. See models/operators/op.h.

/// Takes the first row of each image.
struct PickClassToken {
    Value x;  ///< [b, 1 + patches, h]
    Value y;  ///< [b, h]
};

/// y = cap tanh(x / cap) of logits [rows, columns].
struct SoftCap {
    Value x;
    Value y;
    double cap = 1;
    std::int64_t rows = 1;
    std::int64_t columns = 1;
};

/// y is x in another type, as `x.float()` makes it.
struct Cast {
    Value x;
    Value y;
    DataType type{};  ///< of y
    std::int64_t elements = 1;
};

/// Cross-entropy over logits [rows, columns].
struct Loss {
    Value logits;     ///< one tensor is both where the gradient is written over the logits
    int softmax = 0;  ///< tensor from which the backward makes the gradient; may be the logits
    DataType softmax_type{};
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    bool cut = false;                 ///< a rank has a share of the vocabulary
    std::optional<int> shifted = {};  ///< fp32, in addition to the softmax
    std::optional<int> softmax_gradient = {};
    std::optional<int> narrow = {};       ///< the logits before a cast, which the caller still has
    std::optional<int> log_sum_exp = {};  ///< fp32, a number per row
    std::optional<int> unscaled = {};     ///< fp32, the gradient before it is scaled
    int ahead = 0;  ///< targets are the next tokens' next, so many places later
};

/// The head with its loss, some tokens at a time. The product's y is one chunk of logits, and
/// its gradient the same memory; all gradients are made in the backward-input.
struct ChunkedLoss {
    Linear head;
    std::int64_t rows = 1;  ///< rows of a chunk
    std::optional<double> softcap = {};
    int ahead = 0;  ///< targets are the next tokens' next, so many places later
};

}  // namespace debubble::models::op
