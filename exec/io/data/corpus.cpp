#include "exec/io/data/training_data.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "base/sha256.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

/// The version of the encoding. It increases when the same corpus and tokenizer give other tokens.
constexpr int kEncoding = 1;

/// A corpus and everything that decides its tokens.
struct Reading {
    const Corpus& corpus;
    const Tokenizer& tokenizer;
    std::optional<std::int32_t> end_of_text;  ///< set for JSON lines

    /// Equal for readings that give the same tokens of the same file.
    std::string identity() const {
        std::string text =
            fmt::format("{} {}", static_cast<int>(corpus.kind), tokenizer.identity());
        if (end_of_text) text += fmt::format(" ended by {}", *end_of_text);
        return text;
    }
    std::int64_t vocab() const {
        return std::max<std::int64_t>(tokenizer.vocab(), end_of_text.value_or(0) + std::int64_t{1});
    }
};

Reading reading_of(const Corpus& corpus, const Tokenizer& tokenizer) {
    if (corpus.kind != CorpusKind::JsonLines) return {corpus, tokenizer, {}};
    const auto end = corpus.end_of_text ? corpus.end_of_text : tokenizer.end_of_text();
    if (!end)
        throw bad_file(corpus.path, fmt::format("{} has no {} to separate documents: give the "
                                                "token that ends them as 'data.end_of_text'",
                                                tokenizer.name(), kEndOfText));
    return {corpus, tokenizer, end};
}

std::string origin_of(const Reading& reading) {
    const fs::path& path = reading.corpus.path;
    return sha256(fmt::format("{} {} {} {}", kEncoding, fs::file_size(path),
                              fs::last_write_time(path).time_since_epoch().count(),
                              reading.identity()));
}

/// The paths where the tokens may be stored, best first. The name contains everything by which two
/// caches of one corpus, or of two corpora of one name in one cache folder, differ.
std::vector<fs::path> places_of(const Reading& reading) {
    const Corpus& corpus = reading.corpus;
    const auto name = [&](const std::string& difference) {
        return fmt::format("{}.{}.tokens.bin", corpus.path.filename().string(),
                           sha256(difference).substr(0, 12));
    };
    const std::string identity = reading.identity();
    const std::string anywhere = name(fs::absolute(corpus.path).string() + " " + identity);
    if (corpus.cache) return {*corpus.cache / anywhere};

    std::vector<fs::path> places{corpus.path.parent_path() / name(identity)};
    const char* const chosen = std::getenv("XDG_CACHE_HOME");
    const char* const home = std::getenv("HOME");
    if (chosen && *chosen)
        places.push_back(fs::path(chosen) / "debubble" / anywhere);
    else if (home && *home)
        places.push_back(fs::path(home) / ".cache" / "debubble" / anywhere);
    return places;
}

/// The tokens at `place`, if they come from `origin`.
std::shared_ptr<const TokenFile> kept_at(const fs::path& place, const std::string& origin,
                                         const fs::path& corpus) {
    std::error_code error;
    if (!fs::is_regular_file(place, error)) return nullptr;
    try {
        auto file = std::make_shared<const TokenFile>(place, corpus);
        return file->origin() == origin && file->is_intact() ? file : nullptr;
    } catch (const InputError&) {
        return nullptr;  // the cache is damaged
    }
}

void encode(const Reading& reading, const TokenSink& sink) {
    const MappedFile file(reading.corpus.path);
    file.whole([&](std::string_view text) {
        if (reading.end_of_text)
            encode_json_lines(file, reading.tokenizer, *reading.end_of_text, sink);
        else
            reading.tokenizer.encode(text, sink);
    });
}

std::shared_ptr<const TokenFile> tokenised(const Reading& reading) {
    const Corpus& corpus = reading.corpus;
    const std::string origin = origin_of(reading);
    const std::vector<fs::path> places = places_of(reading);
    for (const fs::path& place : places)
        if (auto file = kept_at(place, origin, corpus.path)) return file;

    const TokenWidth width = reading.vocab() <= 65536 ? TokenWidth::Bits16 : TokenWidth::Bits32;
    for (std::size_t i = 0;; ++i) {
        try {
            write_token_file(places[i], width, origin,
                             [&](const TokenSink& sink) { encode(reading, sink); });
            return std::make_shared<const TokenFile>(places[i], corpus.path);
        } catch (const FileCut&) {
            throw;  // the corpus is bad, wherever its tokens are kept
        } catch (const WorldError&) {
            if (i + 1 == places.size()) throw;
        }
    }
}

}  // namespace

std::shared_ptr<const TokenFile> open_corpus(const Corpus& corpus, const Tokenizer& tokenizer) {
    if (corpus.kind == CorpusKind::Tokens) return std::make_shared<const TokenFile>(corpus.path);
    static_cast<void>(MappedFile(corpus.path));  // throws if there is none
    const Reading reading = reading_of(corpus, tokenizer);
    // Otherwise threads would write under one temporary name.
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    return tokenised(reading);
}

}  // namespace debubble::exec
