#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exec/core/pieces/pieces.h"
#include "exec/io/checkpoint/safetensors.h"

/// Stored tensors, however they are cut, as a source of the pieces that a rank loads.
namespace debubble::exec {

/// A box of a global tensor in a mapped file.
struct StoredPiece {
    Box box;
    StoredType type{};
    std::string_view data;
    std::optional<std::string> sha256;  ///< checksum of the data, if one was stored
    std::string entry;                  ///< its name in the file
    std::string file;
    /// The box's place in `data`; unset: the box is all of the data, row-major.
    std::optional<Slice> place = {};
    double plus = -0.0;  ///< added to every stored element
};

struct StoredTensor {
    Dimensions shape;  ///< shape of the global tensor
    /// The stored boxes of the tensor. They may overlap where several ranks held the same elements;
    /// the first of them is read.
    std::vector<StoredPiece> pieces;
};

/// A source of stored tensors. Copies share the mapped files. Threads may read one source at the
/// same time.
struct PieceSource {
    using Key = std::pair<std::string, std::string>;  ///< kind and canonical name
    std::string name;                                 ///< folder or file, used in sentences
    std::map<Key, StoredTensor> tensors;
    std::vector<std::shared_ptr<const MappedFile>> files;

    /// The stored tensor for a wanted tensor of this kind. Weights replace each other: for
    /// `parameter` or `main` it is that kind in the wanted type, else main, else parameter.
    const StoredTensor* find(const std::string& kind, const std::string& tensor,
                             DataType type) const;
};

/// A wanted tensor that the source does not have, or has with another shape.
struct Mismatch {
    std::string kind;
    std::string tensor;
    Dimensions wanted;
    std::optional<Dimensions> stored;
    friend bool operator==(const Mismatch&, const Mismatch&) = default;
};
std::string sentence(const Mismatch& mismatch);

/// The mismatches in the order of `wanted`, each tensor once. A caller that initialises a tensor
/// itself leaves it out of `wanted`.
std::vector<Mismatch> mismatches(const PieceSource& source, std::span<const WantedPiece> wanted);

/// Throws InputError with all mismatches, if there are any.
void check_stored(const PieceSource& source, std::span<const WantedPiece> wanted);

/// Fills every wanted piece, whatever layout the stored ones came from, and converts the
/// floating-point types. Every stored piece that is read is first checked against its checksum.
/// Throws InputError that names source and tensors if some are missing, have another shape, are not
/// covered entirely, or are damaged; FileCut if one of its files was shortened.
void load(const PieceSource& source, std::span<const WantedPiece> wanted);

/// Checks all stored data. Throws InputError with the name of every piece whose bytes do not have
/// its checksum; FileCut.
void verify(const PieceSource& source);

/// Stored tensors that a number of ranks, threads of one process, read at the same time. They are
/// released once all have read: until then a mapped file that is deleted keeps its space on the
/// disk. Copies refer to the same tensors.
class SharedPieces {
public:
    /// Precondition: `readers` is positive.
    SharedPieces(PieceSource source, int readers);

    /// Reads the tensors; each reader calls it once. A reader whose `read` throws releases nothing.
    void read(const std::function<void(const PieceSource&)>& read) const;
    /// The tensors, for use before the first reader.
    const PieceSource& source() const { return state_->source; }

private:
    struct State {
        State(PieceSource pieces, int of) : source(std::move(pieces)), readers(of) {}
        PieceSource source;
        std::atomic<int> readers;  ///< readers that have not read yet
    };
    std::shared_ptr<State> state_;
};

/// SHA-256 of the names, shapes, types and contents of all tensors of the source, wherever its
/// files lie. A tensor that has a checksum counts with that. Of other tensors with more than 1 MiB,
/// blocks of 4 KiB at equal distances count: 256 of each tensor, or fewer where there are more than
/// eight such tensors, so that about 2048 blocks are read from a disk in all, but at least two of
/// each. Throws FileCut where a file is shortened meanwhile.
std::string fingerprint(const PieceSource& source);

}  // namespace debubble::exec
