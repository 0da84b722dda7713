#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "exec/io/checkpoint/piece_source.h"

/// One rank's part of a checkpoint: a safetensors file whose tensors are boxes of global
/// ones. The metadata says of each, under its name, which box of what, and its SHA-256.
namespace debubble::exec {

struct RankFile {
    std::string name;  ///< "rank_00003-0123456789abcdef.safetensors", in the step's folder
    std::int64_t bytes = 0;
    /// SHA-256 of the bytes before the data. The header holds every tensor's, so this one
    /// vouches for the whole file.
    std::string header_sha256;
    friend bool operator==(const RankFile&, const RankFile&) = default;
};

/// The name contains part of the hash, so that no other content is ever overwritten.
RankFile write_rank_file(const std::filesystem::path& folder, int rank,
                         std::span<const Piece> pieces);

/// Adds the file's pieces to the source. Checks name, length and header; the data when it is
/// read. Throws InputError.
void add_rank_file(const std::filesystem::path& folder, const RankFile& rank_file,
                   PieceSource& source);

}  // namespace debubble::exec
