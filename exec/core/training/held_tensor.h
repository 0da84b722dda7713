#pragma once

#include <memory>

#include "exec/core/arena.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

/// A flat tensor of a rank: in its arena, or, for what is offloaded, beside it.
class HeldTensor {
public:
    HeldTensor() = default;
    HeldTensor(ArenaTensor tensor) : inside_(std::move(tensor)) {}
    /// Beside the arena.
    HeldTensor(const Arena& arena, const Shape& shape, DataType type)
        : beside_(arena.beside(Bytes{shape.elements() * size_of(type)})),
          view_{beside_.get(), shape, type} {}

    explicit operator bool() const { return inside_ || beside_; }
    TensorView view() const { return inside_ ? inside_.view() : view_; }

private:
    ArenaTensor inside_;
    std::shared_ptr<std::byte> beside_;
    TensorView view_;
};

/// Elements [first, first + count) of a flat tensor; empty of an empty one.
inline TensorView part_of(const TensorView& flat, std::int64_t first, std::int64_t count) {
    if (!flat) return {};
    return {flat.data + first * size_of(flat.type), {count}, flat.type};
}

}  // namespace debubble::exec
