#pragma once

#include <filesystem>
#include <memory>

#include "exec/io/data/bpe.h"
#include "exec/io/data/tokenizer.h"

namespace debubble::exec {

/// A token that text may name in full, such as <|endoftext|>.
struct AddedToken {
    std::string text;
    std::int32_t token = 0;
    friend bool operator==(const AddedToken&, const AddedToken&) = default;
};

/// A byte-level BPE as its files describe it.
struct BpeDescription {
    std::filesystem::path file;       ///< for sentences
    std::vector<std::string> tokens;  ///< the bytes of each
    std::array<std::int32_t, 256> byte_tokens{};
    std::vector<Merge> merges;  ///< the earlier, the sooner
    std::vector<AddedToken> added;
    std::string pattern;            ///< what cuts text into words; empty: nothing does
    bool keep_known_words = false;  ///< a word that is a token is that token, without merges
    bool add_prefix_space = false;  ///< before text that begins with none
    std::string identity;
};

/// Throws InputError if an expression of it is none.
std::unique_ptr<Tokenizer> bpe_tokenizer(BpeDescription description);

}  // namespace debubble::exec
