#include "exec/io/checkpoint/piece_source.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/sha256.h"

namespace debubble::exec {
namespace {

constexpr std::size_t kWhole = 1 << 20;  ///< bytes; larger tensors count by blocks
constexpr std::size_t kBlock = 4096;
constexpr std::size_t kMostBlocks = 256;  ///< most blocks of a tensor
/// Most blocks of a source: they are far from each other on a disk.
constexpr std::size_t kMostReads = 2048;

std::size_t large_without_checksum(const PieceSource& source) {
    std::size_t count = 0;
    for (const auto& [key, tensor] : source.tensors)
        for (const StoredPiece& piece : tensor.pieces)
            if (!piece.sha256 && piece.data.size() > kWhole) ++count;
    return count;
}

/// Adds the last block and `blocks` - 1 others, from the first on.
void add(Sha256& sum, std::string_view data, std::size_t blocks) {
    if (data.size() <= kWhole) return sum.add(data);
    const std::size_t last = data.size() - kBlock;
    for (std::size_t i = 0; i + 1 < blocks; ++i)
        sum.add(data.substr(last / (blocks - 1) * i, kBlock));
    sum.add(data.substr(last));
}

}  // namespace

std::string fingerprint(const PieceSource& source) {
    const std::size_t large = std::max<std::size_t>(large_without_checksum(source), 1);
    const std::size_t blocks = std::clamp<std::size_t>(kMostReads / large, 2, kMostBlocks);
    Sha256 sum;
    for (const auto& [key, tensor] : source.tensors) {
        sum.add(fmt::format("{} {} {}\n", key.first, key.second, text(tensor.shape)));
        for (const StoredPiece& piece : tensor.pieces) {
            sum.add(fmt::format("{} {} {} {}\n", text(piece.box), word(piece.type),
                                piece.data.size(), piece.sha256.value_or("")));
            if (!piece.sha256) add(sum, piece.data, blocks);
        }
    }
    for (const auto& file : source.files) file->check_whole();
    return sum.digits();
}

}  // namespace debubble::exec
