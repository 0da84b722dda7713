#pragma once

#include <memory>

#include "exec/core/arena.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

/// A flat tensor of a rank: in its arena, or, if it is offloaded, outside it
/// (Arena::allocate_outside).
class HeldTensor {
public:
    HeldTensor() = default;
    HeldTensor(ArenaTensor tensor) : inside_(std::move(tensor)) {}
    /// A tensor outside the arena.
    HeldTensor(const Arena& arena, const Shape& shape, DataType type)
        : outside_(arena.allocate_outside(Bytes{shape.elements() * size_of(type)})),
          view_{outside_.get(), shape, type} {}

    explicit operator bool() const { return inside_ || outside_; }
    TensorView view() const { return inside_ ? inside_.view() : view_; }

private:
    ArenaTensor inside_;
    std::shared_ptr<std::byte> outside_;
    TensorView view_;
};

/// Elements [first, first + count) of a flat tensor; empty if the tensor is.
inline TensorView part_of(const TensorView& flat, std::int64_t first, std::int64_t count) {
    if (!flat) return {};
    return {flat.data + first * size_of(flat.type), {count}, flat.type};
}

}  // namespace debubble::exec
