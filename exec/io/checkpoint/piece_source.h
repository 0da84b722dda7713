#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exec/core/pieces/piece.h"
#include "exec/io/checkpoint/safetensors.h"

/// Stored tensors, however they were cut, as a source of the pieces that a rank wants.
namespace debubble::exec {

/// A box of a global tensor in a mapped file, row-major.
struct StoredPiece {
    Box box;
    StoredType type{};
    std::string_view data;
    std::string sha256;  ///< of the data; empty if nobody wrote it down
    std::string entry;   ///< its name in the file
    std::string file;
};

struct StoredTensor {
    Extents shape;  ///< of the global tensor
    /// May overlap: what several ranks held the same of. The first is read.
    std::vector<StoredPiece> pieces;
};

/// Copies share the mapped files. Threads may read one source at the same time.
struct PieceSource {
    using Key = std::pair<std::string, std::string>;  ///< kind and canonical name
    std::string name;                                 ///< folder or file, for sentences
    std::map<Key, StoredTensor> tensors;
    std::vector<std::shared_ptr<const MappedFile>> files;

    /// What serves a want of this kind. The weights serve each other: a want of `parameter`
    /// or `main` is met by that kind in the type wanted, else by main, else by parameter.
    const StoredTensor* find(const std::string& kind, const std::string& tensor,
                             DataType type) const;
};

/// A wanted tensor that the source has not, or has with another shape.
struct Mismatch {
    std::string kind;
    std::string tensor;
    Extents wanted;
    std::optional<Extents> stored;
    friend bool operator==(const Mismatch&, const Mismatch&) = default;
};
std::string sentence(const Mismatch& mismatch);

/// In the order of the wants, each tensor once. What a caller initialises anew, it no
/// longer wants.
std::vector<Mismatch> mismatches(const PieceSource& source, std::span<const WantedPiece> wanted);

/// Throws InputError with all of them, if there are any.
void check_stored(const PieceSource& source, std::span<const WantedPiece> wanted);

/// Fills every wanted piece, whatever layout the stored ones came from, and converts the
/// floating-point types. Every stored piece that is read is checked against its checksum
/// first. Throws InputError that names source and tensors if some are missing, have
/// another shape, are not covered entirely, or are damaged; FileCut if a file of it was cut.
void load(const PieceSource& source, std::span<const WantedPiece> wanted);

/// Throws InputError with the name of every piece that is not what its checksum says; FileCut.
void verify(const PieceSource& source);

}  // namespace debubble::exec
