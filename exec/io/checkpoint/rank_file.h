#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "exec/io/checkpoint/piece_source.h"

/// One rank's part of a checkpoint: a safetensors file whose tensors are boxes of global tensors.
/// Its metadata gives, under the name of each, the box, its tensor and its SHA-256.
namespace debubble::exec {

struct RankFile {
    std::string name;  ///< such as "rank_00003-0123456789abcdef.safetensors", in the step's folder
    std::int64_t bytes = 0;
    /// SHA-256 of the bytes before the data. The header holds the hash of every tensor, so this one
    /// covers the whole file.
    std::string header_sha256;
    friend bool operator==(const RankFile&, const RankFile&) = default;
};

/// Writes a rank's file. Its name contains part of the hash, so that no other content is ever
/// overwritten.
RankFile write_rank_file(const std::filesystem::path& folder, int rank,
                         std::span<const Piece> pieces);

/// Adds the file's pieces to the source. Name, length and header are checked here, the data when it
/// is read. Throws InputError.
void add_rank_file(const std::filesystem::path& folder, const RankFile& rank_file,
                   PieceSource& source);

}  // namespace debubble::exec
