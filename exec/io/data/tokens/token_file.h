#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "exec/io/mapped_file.h"

/// Tokenised text as llm.c stores it (github.com/karpathy/llm.c, dev/data/data_common.py):
/// 256 little-endian int32 (magic, version, number of tokens, zeros), then the tokens.
///   magic 20240520, version 1: uint16, as GPT-2 needs
///   magic 20240801, version 7: uint32, as Llama 3 needs
/// Files that debubble writes as a cache use some of the zeros: see TokenFile::origin.
namespace debubble::exec {

/// A token file mapped into memory. Any number of threads may read it at once. Tokens of a file
/// that is shortened meanwhile read as zeros: a reader calls check_whole() afterwards.
class TokenFile {
public:
    /// Throws InputError if the header does not belong to such a file or disagrees with the file's
    /// size. `made_from`: the corpus whose tokens the file keeps, if it is a cache.
    explicit TokenFile(const std::filesystem::path& path,
                       const std::filesystem::path& made_from = {});

    /// The file that a person knows, for sentences.
    const std::filesystem::path& source() const { return source_; }
    std::int64_t size() const { return size_; }  ///< in tokens
    /// Throws FileCut if the file was shortened.
    void check_whole() const { map_.check_whole(); }
    std::uint32_t operator[](std::int64_t position) const {
        return wide_ ? read<std::uint32_t>(position) : read<std::uint16_t>(position);
    }
    /// The first position from `begin` to below `end` whose token is not below `vocab`; `end` if
    /// there is none.
    std::int64_t first_beyond(std::int64_t vocab, std::int64_t begin, std::int64_t end) const;
    /// The positions of `token`, in order.
    std::vector<std::int64_t> find(std::uint32_t token) const;

    /// SHA-256 of the source of the tokens, if a cache states it; else 64 zeros.
    std::string origin() const;
    /// Whether every token has the value with which the cache was written.
    bool is_intact() const;

private:
    template <class T>
    T read(std::int64_t position) const;
    template <class T>
    std::int64_t first_beyond(std::int64_t vocab, std::int64_t begin, std::int64_t end) const;

    MappedFile map_;
    std::filesystem::path source_;
    std::int64_t size_ = 0;
    bool wide_ = false;
};

/// A function that takes tokens a few at a time.
using TokenSink = std::function<void(std::span<const std::int32_t>)>;

/// The width of stored tokens: uint16 holds a vocabulary of up to 65,536.
enum class TokenWidth { Bits16, Bits32 };

/// Writes the tokens that `produce` hands to the sink, under another name that is then renamed:
/// `path` holds its old content or all of the new one. `origin` is 64 hexadecimal digits, or empty.
/// Throws WorldError, and whatever `produce` throws. Precondition: tokens fit the width.
void write_token_file(const std::filesystem::path& path, TokenWidth width,
                      const std::string& origin,
                      const std::function<void(const TokenSink&)>& produce);

}  // namespace debubble::exec
