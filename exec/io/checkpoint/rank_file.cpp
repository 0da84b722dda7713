#include "exec/io/checkpoint/manifest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "exec/core/pieces/pieces.h"
#include "exec/io/checkpoint/safetensors.h"

namespace debubble::exec {
namespace {

std::string entry_name(const Piece& piece) {
    return fmt::format("{}/{} {}", piece.kind, piece.tensor, text(piece.slice.box));
}

std::string description(const Piece& piece, const std::string& digest) {
    nlohmann::ordered_json json;
    json["kind"] = piece.kind;
    json["tensor"] = piece.tensor;
    json["shape"] = piece.shape;
    json["begin"] = piece.slice.box.begin;
    json["sha256"] = digest;
    return json.dump();
}

bool without_gaps(const Slice& slice) {
    const Dimensions dense = row_major_strides(slice.box.extent);
    for (std::size_t d = 0; d < dense.size(); ++d)
        if (slice.box.extent[d] != 1 && slice.strides[d] != dense[d]) return false;
    return true;
}

/// The piece's elements one after another: where they lie, or copied into `buffer`.
std::string_view gathered(const Piece& piece, std::vector<std::byte>& buffer) {
    const std::int64_t bytes = piece.slice.box.elements() * size_of(piece.type);
    const std::byte* data = piece.data + piece.slice.offset * size_of(piece.type);
    if (!without_gaps(piece.slice)) {
        buffer.resize(bytes);
        const Slice dense{piece.slice.box, 0, row_major_strides(piece.slice.box.extent)};
        copy_box(piece.slice.box, piece.slice, piece.type, piece.data, dense, piece.type,
                 buffer.data());
        data = buffer.data();
    }
    return {reinterpret_cast<const char*>(data), static_cast<std::size_t>(bytes)};
}

}  // namespace

RankFile write_rank_file(const std::filesystem::path& folder, int rank,
                         std::span<const Piece> pieces) {
    const std::string name = fmt::format("rank_{:05}", rank);
    std::vector<NewTensor> tensors;
    Metadata metadata;
    for (const Piece& piece : pieces) {
        tensors.push_back({entry_name(piece), stored_type(piece.type), piece.slice.box.extent});
        metadata[tensors.back().name] = description(piece, std::string(64, '0'));
    }
    SafetensorsWriter file(folder / name, tensors, metadata);
    std::vector<std::byte> buffer;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const std::string_view data = gathered(pieces[i], buffer);
        metadata[tensors[i].name] = description(pieces[i], sha256(data));
        file.append(data);
    }
    const std::string digest = sha256(file.header(metadata));
    RankFile written{fmt::format("{}-{}.safetensors", name, digest.substr(0, 16)),
                     file.file_bytes(), digest};
    file.finish(metadata, folder / written.name);
    return written;
}

}  // namespace debubble::exec
