#pragma once

#include <filesystem>
#include <memory>

#include "exec/io/data/tokens/bpe.h"
#include "exec/io/data/tokens/tokenizer.h"

namespace debubble::exec {

/// A token that text may contain in full, such as <|endoftext|>.
struct AddedToken {
    std::string text;
    std::int32_t token = 0;
    friend bool operator==(const AddedToken&, const AddedToken&) = default;
};

/// A byte-level BPE as its files describe it.
struct BpeDescription {
    std::filesystem::path file;       ///< used in sentences
    std::vector<std::string> tokens;  ///< the bytes of each token
    std::array<std::int32_t, 256> byte_tokens{};
    std::vector<Merge> merges;  ///< the rules, earliest first
    std::vector<AddedToken> added;
    /// The expression that cuts text into words; empty: text is not cut.
    std::string pattern;
    bool keep_known_words = false;  ///< a word that is a token is that token, without merges
    bool add_prefix_space = false;  ///< puts a space before text that starts with none
    std::string identity;
};

/// Throws InputError if one of its expressions is not a regular expression.
std::unique_ptr<Tokenizer> bpe_tokenizer(BpeDescription description);

}  // namespace debubble::exec
