#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exec/io/data/tokens/tokenizer.h"

/// Byte-level byte-pair encoding (Sennrich, Haddow, Birch 2016, "Neural Machine Translation
/// of Rare Words with Subword Units"; Radford et al. 2019, GPT-2, over bytes).
namespace debubble::exec {

inline constexpr std::int32_t kNoToken = -1;

/// Two neighbouring tokens that become one.
struct Merge {
    std::int32_t left = 0;
    std::int32_t right = 0;
    std::int32_t result = 0;
};

/// The rules that turn a word's bytes into tokens.
class BytePairs {
public:
    /// `byte_tokens`: the token of each byte, or kNoToken. `merges`: earlier ones come first.
    BytePairs(const std::array<std::int32_t, 256>& byte_tokens, std::span<const Merge> merges);

    /// Appends the word's tokens: among all neighbours that can be merged, the leftmost pair of the
    /// earliest rule is merged, until none can be. Time n log n. Returns the index of the first
    /// byte that has no token, or word.size().
    std::size_t encode(std::string_view word, std::vector<std::int32_t>& tokens) const;

private:
    struct Rule {
        std::int32_t rank;
        std::int32_t result;
    };
    const Rule* rule_of(std::int32_t left, std::int32_t right) const;

    std::array<std::int32_t, 256> byte_tokens_;
    std::unordered_map<std::uint64_t, Rule> rules_;
};

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
    /// The expression that cuts text into words; unset: text is not cut.
    std::optional<std::string> pattern;
    bool keep_known_words = false;  ///< a word that is a token is that token, without merges
    bool add_prefix_space = false;  ///< puts a space before text that starts with none
    std::string identity;
};

/// Throws InputError if one of its expressions is not a regular expression.
std::unique_ptr<Tokenizer> bpe_tokenizer(BpeDescription description);

/// Reads a tokenizer.json of Hugging Face: byte-level BPE that splits words by GPT-2's expression
/// or by one of its own (as Llama 3's does), without a normalizer. Tokens that a post-processor
/// would add to a text are not added. Throws InputError; `file` is its name.
BpeDescription read_tokenizer_json(std::string_view text, const std::filesystem::path& file);

/// Reads a vocab.json and a merges.txt, the form in which GPT-2 was published.
BpeDescription read_vocab_and_merges(std::string_view vocab, std::string_view merges,
                                     const std::filesystem::path& vocab_file,
                                     const std::filesystem::path& merges_file);

/// The character that represents a byte in the vocabularies of byte-level BPE, in UTF-8: a
/// printable byte is its Latin-1 character, the n-th other one U+0100 + n (OpenAI's GPT-2,
/// encoder.py, bytes_to_unicode).
std::string symbol_of(unsigned char byte);

/// The bytes that the characters represent; nothing if one of them represents no byte.
std::optional<std::string> bytes_of(std::string_view symbols);

}  // namespace debubble::exec
