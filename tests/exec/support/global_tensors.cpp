#include "tests/exec/support/global_tensors.h"

#include <cmath>
#include <limits>

#include "exec/core/pieces/pieces.h"

namespace debubble::exec {

namespace {

constexpr float kNotHeld = std::numeric_limits<float>::quiet_NaN();
constexpr float kDisputed = std::numeric_limits<float>::infinity();

}  // namespace

void put(const Piece& piece, GlobalTensors& tensors) {
    const auto count = static_cast<std::size_t>(elements_of(piece.shape));
    auto& tensor = tensors.try_emplace(piece.tensor, count, kNotHeld).first->second;
    const Slice all{whole(piece.shape), 0, row_major_strides(piece.shape)};
    copy_box(piece.slice.box, piece.slice, piece.type, piece.data, all, DataType::Fp32,
             reinterpret_cast<std::byte*>(tensor.data()));
}

void put_weights(std::span<const Piece> pieces, GlobalTensors& weights) {
    for (const Piece& piece : pieces)
        if (piece.kind == kinds::kParameter || piece.kind == kinds::kMain) put(piece, weights);
}

void join(const GlobalTensors& of_rank, GlobalTensors& all) {
    for (const auto& [name, held] : of_rank) {
        auto& tensor = all.try_emplace(name, held.size(), kNotHeld).first->second;
        for (std::size_t i = 0; i < held.size(); ++i) {
            if (std::isnan(held[i])) continue;
            if (std::isnan(tensor[i])) tensor[i] = held[i];
            if (tensor[i] != held[i]) tensor[i] = kDisputed;
        }
    }
}

}  // namespace debubble::exec
