#pragma once

#include <optional>

#include "models/network/sharding.h"
#include "models/operators/value.h"

/// The operators before the layers. See models/operators/op.h.
namespace debubble::models::op {

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

}  // namespace debubble::models::op
