#include "exec/io/data/tokens/bpe.h"

#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "exec/io/data/tokens/pattern.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {
namespace fs = std::filesystem;
using Json = nlohmann::json;
namespace {

/// The expression of OpenAI's encoder.py.
constexpr std::string_view kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

constexpr std::int64_t kMostTokens = 1 << 21;

/// A JSON value for sentences. Lists and maps, which may be deep, are given by their kind alone.
std::string written(const Json& value) {
    return value.is_structured() ? value.type_name() : value.dump();
}

/// Builds a description step by step.
class Builder {
public:
    explicit Builder(const fs::path& file) { out_.file = file; }

    [[noreturn]] void refuse(const std::string& sentence) const {
        throw bad_file(out_.file, sentence);
    }
    BpeDescription& out() { return out_; }

    void read_vocab(const Json& vocab) {
        if (!vocab.is_object() || vocab.empty()) refuse("the vocabulary is not a map with tokens");
        for (const auto& [symbols, token] : vocab.items()) {
            if (symbols.empty()) refuse("a token of the vocabulary is empty");
            add(symbols, token, bytes_of(symbols).value_or(symbols));
        }
        for (int byte = 0; byte < 256; ++byte)
            out_.byte_tokens[byte] = find(symbol_of(static_cast<unsigned char>(byte)));
    }

    void read_added(const Json& added) {
        const auto text = added.at("content").get<std::string>();
        for (const char* key : {"single_word", "lstrip", "rstrip"})
            if (added.value(key, false))
                refuse(fmt::format("the added token '{}' has '{}', which is not supported", text,
                                   key));
        if (text.empty()) refuse("an added token is empty");
        const Json& token = added.at("id");
        const std::int32_t known = find(text);
        if (known == kNoToken)
            add(text, token, text);
        else if (token != known)
            refuse(fmt::format("the added token '{}' is {} and, in the vocabulary, {}", text,
                               written(token), known));
        else
            out_.tokens[known] = text;
        out_.added.push_back({text, find(text)});
    }

    void read_merge(std::string_view left, std::string_view right) {
        const auto known = [&](const std::string& symbols) {
            const std::int32_t token = find(symbols);
            if (token == kNoToken)
                refuse(
                    fmt::format("merge {} is of '{}' and '{}', but '{}' is not in the vocabulary",
                                out_.merges.size() + 1, left, right, symbols));
            return token;
        };
        const std::string first(left);
        const std::string second(right);
        out_.merges.push_back({known(first), known(second), known(first + second)});
    }

    /// Reads a merge written as "left right".
    void read_merge(std::string_view pair) {
        const std::size_t space = pair.find(' ');
        if (space == std::string_view::npos || pair.find(' ', space + 1) != std::string_view::npos)
            refuse(
                fmt::format("merge {} must be two tokens, not '{}'", out_.merges.size() + 1, pair));
        read_merge(pair.substr(0, space), pair.substr(space + 1));
    }

    std::int32_t find(const std::string& symbols) const {
        const auto found = tokens_.find(symbols);
        return found == tokens_.end() ? kNoToken : found->second;
    }

private:
    void add(const std::string& symbols, const Json& token, std::string bytes) {
        if (!token.is_number_unsigned() || token.get<std::uint64_t>() >= kMostTokens)
            refuse(fmt::format("the token '{}' must be a number from 0 to {}, not {}", symbols,
                               kMostTokens - 1, written(token)));
        const auto number = token.get<std::int32_t>();
        if (number >= std::ssize(out_.tokens)) {
            out_.tokens.resize(number + 1);
            symbols_.resize(number + 1);
        }
        if (!symbols_[number].empty())
            refuse(
                fmt::format("'{}' and '{}' are both token {}", symbols_[number], symbols, number));
        out_.tokens[number] = std::move(bytes);
        symbols_[number] = symbols;
        tokens_[symbols] = number;
    }

    BpeDescription out_;
    std::vector<std::string> symbols_;  ///< symbol of each token
    std::unordered_map<std::string, std::int32_t> tokens_;
};

const Json& member(const Json& map, const char* key) {
    static const Json kNull;
    if (!map.is_object()) return kNull;
    const auto found = map.find(key);
    return found == map.end() ? kNull : *found;
}

bool says(const Json& map, const char* key, bool otherwise = false) {
    const Json& value = member(map, key);
    return value.is_null() ? otherwise : value.get<bool>();
}

void read_byte_level(Builder& builder, const Json& step) {
    builder.out().add_prefix_space = says(step, "add_prefix_space", true);
    if (says(step, "use_regex", true)) builder.out().pattern = kGpt2Words;
}

void read_split(Builder& builder, const Json& step) {
    const Json& pattern = member(step, "pattern");
    const Json& expression = member(pattern, "Regex");
    const std::string behavior = member(step, "behavior").get<std::string>();
    const bool inverted = says(step, "invert");
    if (!(behavior == "Isolated" && !inverted) && !(behavior == "Removed" && inverted))
        builder.refuse(
            fmt::format("words are split with the behavior '{}'{}; only 'Isolated' is supported",
                        behavior, inverted ? ", inverted" : ""));
    std::string words = expression.is_null()
                            ? literal_pattern(member(pattern, "String").get<std::string>())
                            : expression.get<std::string>();
    builder.out().pattern.reset();
    if (!words.empty()) builder.out().pattern = std::move(words);
}

/// Reads a pre-tokenizer: ByteLevel alone, or a Split before it.
void read_pre_tokenizer(Builder& builder, const Json& pre_tokenizer) {
    const Json& sequence = member(pre_tokenizer, "pretokenizers");
    const auto type = [](const Json& step) {
        return member(step, "type").is_string() ? member(step, "type").get<std::string>() : "none";
    };
    if (type(pre_tokenizer) == "ByteLevel") return read_byte_level(builder, pre_tokenizer);
    if (type(pre_tokenizer) == "Sequence" && sequence.is_array() && sequence.size() == 2 &&
        type(sequence[0]) == "Split" && type(sequence[1]) == "ByteLevel" &&
        !says(sequence[1], "use_regex", true)) {
        if (says(sequence[1], "add_prefix_space", true))
            builder.refuse("'add_prefix_space' after a 'Split' is not supported");
        return read_split(builder, sequence[0]);
    }
    builder.refuse(
        fmt::format("its pre_tokenizer is '{}'; only 'ByteLevel' and a 'Sequence' of 'Split' and "
                    "'ByteLevel' without a regular expression are supported",
                    type(pre_tokenizer)));
}

void read_model(Builder& builder, const Json& model) {
    const Json& type = member(model, "type");
    if (!type.is_null() && type != "BPE")
        builder.refuse(fmt::format("its model is {}; only \"BPE\" is supported", written(type)));
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
        if (const Json& value = member(model, key); !value.is_null() && value != "")
            builder.refuse(fmt::format("'{}' is {}, which is not supported", key, written(value)));
    if (const Json& dropout = member(model, "dropout"); !dropout.is_null() && dropout != 0)
        builder.refuse(fmt::format("'dropout' is {}, which is not supported", written(dropout)));
    if (says(model, "byte_fallback")) builder.refuse("'byte_fallback' is not supported");
    builder.out().keep_known_words = says(model, "ignore_merges");
    builder.read_vocab(member(model, "vocab"));
    for (const Json& merge : model.at("merges")) {
        if (merge.is_string())
            builder.read_merge(merge.get_ref<const std::string&>());
        else
            builder.read_merge(merge.at(0).get<std::string>(), merge.at(1).get<std::string>());
    }
}

/// Calls `read` and adds the file's name to every mistake of form.
template <class Read>
void with_file(const Builder& builder, const Read& read) {
    try {
        read();
    } catch (const Json::parse_error& error) {
        builder.refuse(fmt::format("not JSON at byte {}", error.byte));
    } catch (const Json::exception& error) {
        builder.refuse(fmt::format("not a tokenizer of a known form: {}", error.what()));
    }
}

}  // namespace

BpeDescription read_tokenizer_json(std::string_view text, const fs::path& file) {
    Builder builder(file);
    with_file(builder, [&] {
        const Json root = Json::parse(text);
        if (!root.is_object()) builder.refuse("not a tokenizer: the JSON is not a map");
        if (const Json& normalizer = member(root, "normalizer"); !normalizer.is_null())
            builder.refuse(fmt::format("its normalizer {} is not supported",
                                       written(member(normalizer, "type"))));
        read_model(builder, member(root, "model"));
        read_pre_tokenizer(builder, member(root, "pre_tokenizer"));
        for (const Json& added : member(root, "added_tokens")) builder.read_added(added);
    });
    builder.out().identity = sha256(text);
    return std::move(builder.out());
}

BpeDescription read_vocab_and_merges(std::string_view vocab, std::string_view merges,
                                     const fs::path& vocab_file, const fs::path& merges_file) {
    Builder builder(vocab_file);
    with_file(builder, [&] { builder.read_vocab(Json::parse(vocab)); });
    builder.out().file = merges_file;
    for (std::string_view rest = merges; !rest.empty();) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!line.empty() && !line.starts_with("#version")) builder.read_merge(line);
    }
    builder.out().file = vocab_file;
    builder.out().pattern = kGpt2Words;
    if (const std::int32_t end = builder.find(std::string(kEndOfText)); end != kNoToken)
        builder.out().added.push_back({std::string(kEndOfText), end});
    builder.out().identity = sha256(sha256(vocab) + sha256(merges));
    return std::move(builder.out());
}

}  // namespace debubble::exec
