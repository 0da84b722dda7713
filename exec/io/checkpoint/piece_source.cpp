#include "exec/io/checkpoint/piece_source.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/sha256.h"
#include "exec/core/pieces/pieces.h"

namespace debubble::exec {
namespace {

constexpr std::size_t kMostSentences = 10;

class Sentences {
public:
    void add(const std::string& file, std::string sentence) {
        if (found_.size() < kMostSentences)
            found_.push_back({{file, 0, 0}, std::move(sentence), {}});
        ++count_;
    }
    void throw_if_any(const std::string& source) {
        if (found_.empty()) return;
        if (count_ > found_.size())
            found_.push_back(
                {{source, 0, 0}, fmt::format("and {} more", count_ - found_.size()), {}});
        throw InputError(std::move(found_));
    }

private:
    std::vector<Diagnostic> found_;
    std::size_t count_ = 0;
};

bool is_weight(const std::string& kind) {
    return kind == kinds::kParameter || kind == kinds::kMain;
}

bool intact(const StoredPiece& piece) {
    return !piece.sha256 || sha256(piece.data) == piece.sha256;
}

std::string damage(const StoredPiece& piece) {
    return fmt::format("tensor '{}' is damaged: its {} bytes do not have the SHA-256 {}",
                       piece.entry, piece.data.size(), piece.sha256.value_or(""));
}

/// Throws FileCut unless all bytes that were read are in the files.
void check_whole(const PieceSource& source) {
    for (const auto& file : source.files) file->check_whole();
}

/// Loads one piece after another and remembers which were found intact.
class Loader {
public:
    explicit Loader(const PieceSource& source) : source_(source) {}

    void fill(const WantedPiece& wanted) {
        const StoredTensor& tensor = *source_.find(wanted.kind, wanted.tensor, wanted.type);
        std::vector<Box> missing = {wanted.slice.box};
        for (const StoredPiece& piece : tensor.pieces) {
            std::vector<Box> still_missing;
            for (const Box& box : missing) {
                if (const std::optional<Box> common = intersection(box, piece.box))
                    copy(*common, piece, wanted);
                std::ranges::move(difference(box, piece.box), std::back_inserter(still_missing));
            }
            missing = std::move(still_missing);
            if (missing.empty()) return;
        }
        for (const Box& box : missing)
            sentences_.add(source_.name,
                           fmt::format("the elements {} of the '{}' of '{}' {} are in no file",
                                       text(box), wanted.kind, wanted.tensor, text(tensor.shape)));
    }

    void throw_if_any() { sentences_.throw_if_any(source_.name); }

private:
    void copy(const Box& what, const StoredPiece& piece, const WantedPiece& wanted) {
        const std::optional<DataType> type = data_type(piece.type);
        if (!type || !can_convert(*type, wanted.type)) {
            if (seen_.insert(&piece).second)
                sentences_.add(
                    piece.file,
                    fmt::format("tensor '{}' has type {}, which such a tensor cannot have",
                                piece.entry, word(piece.type)));
            return;
        }
        if (seen_.insert(&piece).second && !intact(piece))
            sentences_.add(piece.file, damage(piece));
        const Slice stored =
            piece.place.value_or(Slice{piece.box, 0, row_major_strides(piece.box.extent)});
        copy_box(what, stored, *type, reinterpret_cast<const std::byte*>(piece.data.data()),
                 wanted.slice, wanted.type, wanted.data, piece.plus);
    }

    const PieceSource& source_;
    std::set<const StoredPiece*> seen_;
    Sentences sentences_;
};

}  // namespace

const StoredTensor* PieceSource::find(const std::string& kind, const std::string& tensor,
                                      DataType type) const {
    const auto of_kind = [&](const std::string& other) -> const StoredTensor* {
        const auto found = tensors.find({other, tensor});
        return found == tensors.end() ? nullptr : &found->second;
    };
    const StoredTensor* exact = of_kind(kind);
    if (!is_weight(kind)) return exact;
    const auto same_type = [&](const StoredPiece& piece) { return data_type(piece.type) == type; };
    if (exact && std::ranges::all_of(exact->pieces, same_type)) return exact;
    const StoredTensor* main = of_kind(kinds::kMain);
    return main ? main : of_kind(kinds::kParameter);
}

std::string sentence(const Mismatch& mismatch) {
    if (!mismatch.stored)
        return fmt::format("has no '{}' of '{}' {}", mismatch.kind, mismatch.tensor,
                           text(mismatch.wanted));
    return fmt::format("has a '{}' of '{}' of shape {}, not {}", mismatch.kind, mismatch.tensor,
                       text(*mismatch.stored), text(mismatch.wanted));
}

std::vector<Mismatch> mismatches(const PieceSource& source, std::span<const WantedPiece> wanted) {
    std::vector<Mismatch> found;
    std::set<PieceSource::Key> seen;
    for (const WantedPiece& piece : wanted) {
        if (!seen.insert({piece.kind, piece.tensor}).second) continue;
        const StoredTensor* tensor = source.find(piece.kind, piece.tensor, piece.type);
        if (tensor && tensor->shape == piece.shape) continue;
        found.push_back({piece.kind, piece.tensor, piece.shape,
                         tensor ? std::optional(tensor->shape) : std::nullopt});
    }
    return found;
}

void check_stored(const PieceSource& source, std::span<const WantedPiece> wanted) {
    Sentences sentences;
    for (const Mismatch& mismatch : mismatches(source, wanted))
        sentences.add(source.name, sentence(mismatch));
    sentences.throw_if_any(source.name);
}

void load(const PieceSource& source, std::span<const WantedPiece> wanted) {
    check_stored(source, wanted);
    Loader loader(source);
    for (const WantedPiece& piece : wanted) loader.fill(piece);
    check_whole(source);
    loader.throw_if_any();
}

void verify(const PieceSource& source) {
    Sentences sentences;
    for (const auto& [key, tensor] : source.tensors)
        for (const StoredPiece& piece : tensor.pieces)
            if (!intact(piece)) sentences.add(piece.file, damage(piece));
    check_whole(source);
    sentences.throw_if_any(source.name);
}

}  // namespace debubble::exec
