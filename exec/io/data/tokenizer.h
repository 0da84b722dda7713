#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/io/data/token_file.h"

namespace debubble::exec {

/// Text to tokens and back. Any number of threads may use one.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;
    virtual std::int64_t vocab() const = 0;  ///< tokens are 0 .. vocab - 1
    /// The token that stands between documents, if the vocabulary has one.
    virtual std::optional<std::int32_t> end_of_text() const = 0;
    /// The tokens of the text, some at a time. Every byte is encoded: text that is no UTF-8
    /// comes back from decode as it was.
    virtual void encode(std::string_view text, const TokenSink& sink) const = 0;
    /// Tokens may be parts of characters; those beyond the vocabulary stand for nothing.
    virtual std::string decode(std::span<const std::int32_t> tokens) const = 0;
    /// Tokenizers with the same identity give the same tokens.
    virtual std::string identity() const = 0;
    virtual std::string name() const = 0;  ///< for sentences

    std::vector<std::int32_t> encode(std::string_view text) const;
};

/// 0 .. 255 are the bytes, 256 is <|endoftext|>.
std::unique_ptr<Tokenizer> byte_tokenizer();

/// What GPT-2 calls its token between documents.
inline constexpr std::string_view kEndOfText = "<|endoftext|>";

}  // namespace debubble::exec
