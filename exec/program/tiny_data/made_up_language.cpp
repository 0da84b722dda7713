#include "exec/program/tiny_data/made_up_data.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "exec/io/data/tokens/bpe.h"
#include "exec/io/data/tokens/tokenizer.h"

namespace debubble::exec {
namespace {

constexpr int kBytes = 256;
constexpr std::int64_t kLargestVocabulary = 1 << 18;

std::vector<std::string> syllables() {
    std::vector<std::string> found;
    for (const char consonant : std::string_view("bdfgklmnprstvz"))
        for (const char vowel : std::string_view("aeiou")) found.push_back({consonant, vowel});
    return found;
}

/// The number of the i-th of `size` words in an order that mixes their beginnings.
std::int64_t mixed(std::int64_t i, std::int64_t size) {
    constexpr std::int64_t kPrime = 1'000'003;  // divides no number of words: they are 70^n
    return i * kPrime % size;
}

/// The characters that stand for the bytes in a tokenizer's files.
std::string symbols_of(const std::string& bytes) {
    std::string symbols;
    for (const char byte : bytes) symbols += symbol_of(static_cast<unsigned char>(byte));
    return symbols;
}

/// Adds merges, and the tokens that they make, until there are enough.
class Merger {
public:
    Merger(MadeUpLanguage& language, std::int64_t vocab)
        : language_(language), left_(std::min(vocab, kLargestVocabulary) - kBytes - 1) {}

    bool done() const { return left_ <= 0; }
    void merge(const std::string& first, const std::string& second) {
        if (done()) return;
        --left_;
        language_.merges.emplace_back(first, second);
        language_.tokens.push_back(first + second);
        if (first.starts_with(' ')) language_.words.push_back(first + second);
    }

private:
    MadeUpLanguage& language_;
    std::int64_t left_;
};

nlohmann::json vocabulary(const MadeUpLanguage& language) {
    nlohmann::json vocab;
    std::int64_t id = 0;
    for (const std::string& token : language.tokens) vocab[symbols_of(token)] = id++;
    vocab[std::string(kEndOfText)] = id;
    return vocab;
}

}  // namespace

MadeUpLanguage made_up_language(std::int64_t vocab) {
    MadeUpLanguage language;
    for (int byte = 0; byte < kBytes; ++byte)
        language.tokens.emplace_back(1, static_cast<char>(byte));
    Merger merger(language, vocab);
    const std::vector<std::string> parts = syllables();
    const std::int64_t count = std::ssize(parts);
    for (const std::string& part : parts) merger.merge(part.substr(0, 1), part.substr(1));
    for (const std::string& part : parts) merger.merge(" ", part);
    for (std::int64_t i = 0; i < count * count; ++i) {
        const std::int64_t word = mixed(i, count * count);
        merger.merge(" " + parts[word / count], parts[word % count]);
    }
    for (std::int64_t i = 0; i < count * count * count && !merger.done(); ++i) {
        const std::int64_t word = mixed(i, count * count * count);
        merger.merge(" " + parts[word / count / count] + parts[word / count % count],
                     parts[word % count]);
    }
    if (language.words.empty())
        for (const std::string& part : parts) language.words.push_back(" " + part);
    return language;
}

double Draws::unit() {
    return static_cast<double>(engine_() >> 11) * 0x1p-53;
}

std::int64_t Draws::below(std::int64_t size) {
    return static_cast<std::int64_t>(unit() * static_cast<double>(size));
}

std::int64_t Draws::skewed(std::int64_t size) {
    const double square = unit() * unit();
    return static_cast<std::int64_t>(square * square * static_cast<double>(size));
}

std::string made_up_text(const MadeUpLanguage& language, std::int64_t words, Draws& draws) {
    std::string text;
    std::int64_t sentence = 0;
    for (std::int64_t i = 0; i < words; ++i) {
        text += language.words[draws.skewed(std::ssize(language.words))];
        if (sentence-- > 0) continue;
        if (i > 0) text += '.';
        sentence = 6 + draws.below(8);
    }
    text += '.';
    return text.substr(1);
}

std::string tokenizer_json(const MadeUpLanguage& language) {
    using Json = nlohmann::json;
    Json merges = Json::array();
    for (const auto& [first, second] : language.merges)
        merges.push_back(symbols_of(first) + " " + symbols_of(second));
    const Json end{{"id", language.tokens.size()},
                   {"content", std::string(kEndOfText)},
                   {"single_word", false},
                   {"lstrip", false},
                   {"rstrip", false},
                   {"normalized", false},
                   {"special", true}};
    const Json bytes{{"type", "ByteLevel"},
                     {"add_prefix_space", false},
                     {"trim_offsets", true},
                     {"use_regex", true}};
    const Json tokenizer{{"version", "1.0"},
                         {"truncation", nullptr},
                         {"padding", nullptr},
                         {"added_tokens", Json::array({end})},
                         {"normalizer", nullptr},
                         {"pre_tokenizer", bytes},
                         {"post_processor", nullptr},
                         {"decoder", bytes},
                         {"model",
                          {{"type", "BPE"},
                           {"dropout", nullptr},
                           {"unk_token", nullptr},
                           {"vocab", vocabulary(language)},
                           {"merges", std::move(merges)}}}};
    return tokenizer.dump() + "\n";
}

std::string vocab_json(const MadeUpLanguage& language) {
    return vocabulary(language).dump() + "\n";
}

std::string merges_txt(const MadeUpLanguage& language) {
    std::string text = "#version: 0.2\n";
    for (const auto& [first, second] : language.merges)
        text += symbols_of(first) + " " + symbols_of(second) + "\n";
    return text;
}

}  // namespace debubble::exec
