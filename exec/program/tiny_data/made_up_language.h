#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

/// A language that nobody speaks, for text whose tokens have the shape of a real tokenizer's.
namespace debubble::exec {

/// A byte-level BPE: 256 bytes, then syllables of two letters, then words of one to three
/// syllables with the space before them, each of which is one token.
struct MadeUpLanguage {
    std::vector<std::string> tokens;  ///< the bytes of each token; end-of-text is the one after
    std::vector<std::pair<std::string, std::string>> merges;  ///< two tokens each, earliest first
    std::vector<std::string> words;                           ///< with the space before them
};

/// The language with this many tokens, end-of-text among them: at least 257, at most 2^18. Those
/// beyond are never used.
MadeUpLanguage made_up_language(std::int64_t vocab);

/// Numbers that are the same on every machine.
class Draws {
public:
    explicit Draws(std::uint64_t seed) : engine_(seed) {}
    double unit();                          ///< from 0 to below 1
    std::int64_t below(std::int64_t size);  ///< from 0 to below `size`
    /// The same, small numbers most often, as words of a language: most of them are below size
    /// / 16.
    std::int64_t skewed(std::int64_t size);

private:
    std::mt19937_64 engine_;
};

/// So many words in sentences.
std::string made_up_text(const MadeUpLanguage& language, std::int64_t words, Draws& draws);

/// tokenizer.json of Hugging Face, and the pair of files in which GPT-2 was published.
std::string tokenizer_json(const MadeUpLanguage& language);
std::string vocab_json(const MadeUpLanguage& language);
std::string merges_txt(const MadeUpLanguage& language);

}  // namespace debubble::exec
