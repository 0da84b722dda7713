#include "exec/checkpoint/fingerprint.h"

#include <fmt/format.h>

#include "base/sha256.h"

namespace debubble::exec {
namespace {

constexpr std::size_t kWhole = 1 << 20;  ///< bytes
constexpr std::size_t kBlock = 4096;
constexpr std::size_t kBlocks = 256;

void add(Sha256& sum, std::string_view data) {
    if (data.size() <= kWhole) return sum.add(data);
    for (std::size_t i = 0; i < kBlocks; ++i)
        sum.add(data.substr((data.size() - kBlock) / (kBlocks - 1) * i, kBlock));
    sum.add(data.substr(data.size() - kBlock));
}

}  // namespace

std::string fingerprint(const PieceSource& source) {
    Sha256 sum;
    for (const auto& [key, tensor] : source.tensors) {
        sum.add(fmt::format("{} {} {}\n", key.first, key.second, text(tensor.shape)));
        for (const StoredPiece& piece : tensor.pieces) {
            sum.add(fmt::format("{} {} {} {}\n", text(piece.box), word(piece.type),
                                piece.data.size(), piece.sha256));
            if (piece.sha256.empty()) add(sum, piece.data);
        }
    }
    for (const auto& file : source.files) file->check_whole();
    return sum.digits();
}

}  // namespace debubble::exec
