#include "exec/cpu/fp32_operands.h"

#include <algorithm>

namespace debubble::exec {

float* Fp32Scratch::piece(std::size_t n, std::int64_t count) {
    if (pieces_.size() <= n) pieces_.resize(n + 1);
    Piece& piece = pieces_[n];
    if (piece.size < count) {
        piece.memory.reset();  // freed before its successor is allocated
        piece.memory = std::make_unique_for_overwrite<float[]>(count);
        piece.size = count;
    }
    return piece.memory.get();
}

Fp32Operands::~Fp32Operands() {
    for (std::size_t i = 0; i < stored_; ++i) narrow(to_store_[i].from, to_store_[i].to);
}

View<const float> Fp32Operands::in(const ConstTensorView& x) {
    if (!x) return {};
    if (x.type == DataType::Fp32) return x.as<float>();
    float* copy = scratch_.piece(used_++, std::max<std::int64_t>(1, x.shape.elements()));
    widen(x, copy);
    return {copy, x.shape};
}

View<float> Fp32Operands::out(const TensorView& x) {
    if (!x) return {};
    if (x.type == DataType::Fp32) return x.as<float>();
    float* copy = scratch_.piece(used_++, std::max<std::int64_t>(1, x.shape.elements()));
    assert(stored_ < kMaxWritten && "no operator writes more");
    to_store_[stored_++] = {copy, x};
    return {copy, x.shape};
}

View<float> Fp32Operands::changed(const TensorView& x) {
    const View<float> view = out(x);
    if (x && x.type != DataType::Fp32) widen(x, view.data);
    return view;
}

}  // namespace debubble::exec
