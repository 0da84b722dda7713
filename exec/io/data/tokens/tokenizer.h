#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/io/data/tokens/token_file.h"

namespace debubble::exec {

/// Converts text to tokens and back. Any number of threads may use one.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;
    virtual std::int64_t vocab() const = 0;  ///< tokens are 0 .. vocab - 1
    /// The token that separates documents, if the vocabulary has one.
    virtual std::optional<std::int32_t> end_of_text() const = 0;
    /// Hands on the tokens of the text, some at a time. Every byte is encoded: text that is not
    /// UTF-8 comes back from decode unchanged.
    virtual void encode(std::string_view text, const TokenSink& sink) const = 0;
    /// The text of the tokens, which may be parts of characters; tokens beyond the vocabulary give
    /// nothing.
    virtual std::string decode(std::span<const std::int32_t> tokens) const = 0;
    /// Tokenizers with the same identity give the same tokens.
    virtual std::string identity() const = 0;
    virtual std::string name() const = 0;  ///< used in sentences

    std::vector<std::int32_t> encode(std::string_view text) const;
};

/// A tokenizer whose tokens 0 .. 255 are the bytes; 256 is <|endoftext|>.
std::unique_ptr<Tokenizer> byte_tokenizer();

/// GPT-2's name of the token between documents.
inline constexpr std::string_view kEndOfText = "<|endoftext|>";

/// The tokenizer at `path`: a tokenizer.json of Hugging Face, a vocab.json with its merges.txt next
/// to it, or a folder with either. An empty path means bytes. Throws InputError.
std::unique_ptr<Tokenizer> make_tokenizer(const std::filesystem::path& path);

}  // namespace debubble::exec
