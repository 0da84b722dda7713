#include "exec/io/data/tokens/bpe.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "exec/io/data/tokens/pattern.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {
namespace {

struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>{}(text);
    }
};
template <class Value>
using ByText = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

/// A pattern that matches any added token; of two that start at the same position it matches the
/// longer.
std::optional<Pattern> pattern_of(std::vector<AddedToken> added, const BpeDescription& of) {
    if (added.empty()) return std::nullopt;
    std::ranges::stable_sort(added, std::greater{}, [](const auto& a) { return a.text.size(); });
    std::string expression;
    for (const AddedToken& token : added)
        expression.append(expression.empty() ? "" : "|").append(literal_pattern(token.text));
    return Pattern(expression, Pattern::Over::Bytes, of.file);
}

class BpeTokenizer final : public Tokenizer {
public:
    explicit BpeTokenizer(BpeDescription description)
        : rules_(std::move(description)),
          pairs_(rules_.byte_tokens, rules_.merges),
          added_(pattern_of(rules_.added, rules_)) {
        if (rules_.pattern) words_.emplace(*rules_.pattern, Pattern::Over::Characters, rules_.file);
        for (const AddedToken& added : rules_.added) token_of_text_[added.text] = added.token;
        if (rules_.keep_known_words)
            for (std::size_t i = 0; i < rules_.tokens.size(); ++i)
                known_words_.emplace(rules_.tokens[i], static_cast<std::int32_t>(i));
    }

    std::int64_t vocab() const override { return std::ssize(rules_.tokens); }
    std::string identity() const override { return rules_.identity; }
    std::string name() const override { return "the tokenizer " + rules_.file.string(); }

    std::optional<std::int32_t> end_of_text() const override {
        for (const std::string_view text :
             {kEndOfText, std::string_view("<|end_of_text|>"), std::string_view("</s>")})
            if (const auto found = token_of_text_.find(text); found != token_of_text_.end())
                return found->second;
        return std::nullopt;
    }

    void encode(std::string_view text, const TokenSink& sink) const override {
        const std::lock_guard lock(mutex_);
        std::vector<std::int32_t> tokens;
        const auto flush = [&](std::size_t enough) {
            if (tokens.size() < enough) return;
            sink(tokens);
            tokens.clear();
        };
        const auto encode_between = [&](std::string_view between) {
            split_words(between, [&](std::string_view word) {
                encode_word(word, tokens);
                flush(kEnough);
            });
        };
        std::size_t done = 0;
        while (added_) {
            const std::optional<Stretch> found = added_->find(text, done);
            if (!found) break;
            encode_between(text.substr(done, found->begin - done));
            const auto added = text.substr(found->begin, found->end - found->begin);
            tokens.push_back(token_of_text_.find(added)->second);
            done = found->end;
        }
        encode_between(text.substr(done));
        flush(1);
    }

    std::string decode(std::span<const std::int32_t> tokens) const override {
        std::string text;
        for (const std::int32_t token : tokens)
            if (token >= 0 && token < vocab()) text += rules_.tokens[token];
        return text;
    }

private:
    static constexpr std::size_t kEnough = 1 << 14;  ///< tokens to hand on at a time
    static constexpr std::size_t kLongestKept = 64;  ///< most bytes of a word that is kept
    static constexpr std::size_t kMostKept = 1 << 20;

    template <class Word>
    void split_words(std::string_view text, const Word& word) const {
        if (text.empty()) return;
        std::string spaced;
        if (rules_.add_prefix_space && text.front() != ' ') {
            spaced.append(1, ' ').append(text);
            text = spaced;
        }
        if (words_)
            words_->split(text, [&](std::string_view piece, bool) { word(piece); });
        else
            word(text);
    }

    void encode_word(std::string_view word, std::vector<std::int32_t>& tokens) const {
        if (const auto known = known_words_.find(word); known != known_words_.end()) {
            tokens.push_back(known->second);
            return;
        }
        if (const auto kept = kept_.find(word); kept != kept_.end()) {
            tokens.insert(tokens.end(), kept->second.begin(), kept->second.end());
            return;
        }
        const std::size_t before = tokens.size();
        const std::size_t encoded = pairs_.encode(word, tokens);
        if (encoded < word.size())
            throw bad_file(rules_.file,
                           fmt::format("its vocabulary has no token for the byte 0x{:02x}",
                                       static_cast<unsigned char>(word[encoded])));
        if (word.size() <= kLongestKept && kept_.size() < kMostKept)
            kept_.emplace(word, std::vector(tokens.begin() + before, tokens.end()));
    }

    BpeDescription rules_;
    BytePairs pairs_;
    std::optional<Pattern> added_;
    std::optional<Pattern> words_;
    ByText<std::int32_t> token_of_text_;
    ByText<std::int32_t> known_words_;

    mutable std::mutex mutex_;                        ///< guards the patterns and the members below
    mutable ByText<std::vector<std::int32_t>> kept_;  ///< tokens of words seen before
};

}  // namespace

std::unique_ptr<Tokenizer> bpe_tokenizer(BpeDescription description) {
    return std::make_unique<BpeTokenizer>(std::move(description));
}

}  // namespace debubble::exec
