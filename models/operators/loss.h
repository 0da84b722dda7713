#pragma once

#include <cstdint>
#include <optional>

#include "models/execution/execution.h"
#include "models/operators/products.h"
#include "models/operators/value.h"

/// The operators after the layers. See models/operators/op.h.
namespace debubble::models::op {

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
