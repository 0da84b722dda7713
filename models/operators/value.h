#pragma once

/// The tensors of operators. See models/operators/op.h.
namespace debubble::models::op {

/// A tensor between operators, and its gradient of the same shape.
struct Value {
    int tensor = 0;
    int gradient = 0;
    friend bool operator==(const Value&, const Value&) = default;
};

}  // namespace debubble::models::op
