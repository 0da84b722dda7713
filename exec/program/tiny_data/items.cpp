#include "exec/program/tiny_data/tiny_data.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "base/file.h"
#include "exec/io/data/images/image.h"
#include "exec/io/data/tokens/token_file.h"
#include "exec/program/tiny_data/made_up_data.h"

namespace debubble::exec {
namespace {

using scenarios::DataOptions;

constexpr std::int64_t kMostSamples = 256;
constexpr std::int64_t kMostTokens = 1 << 20;
constexpr std::int64_t kMostClasses = 1000;
constexpr int kSide = 32;  ///< of images, in pixels: CIFAR's; a training enlarges them

/// Documents as long as a sample where they are concatenated; else some are shorter, and are
/// padded.
std::int64_t document_length(const CorpusSize& amount, bool pack, Draws& draws) {
    if (pack) return amount.length + 1;
    return amount.length / 2 + draws.below(amount.length / 2 + 1) + 1;
}

}  // namespace

CorpusSize corpus_size_for(const scenarios::Scenario& scenario) {
    const std::int64_t length = scenario.training.seq_length;
    if (length > kMostTokens)
        throw InputError(
            fmt::format("'training.seq_length' is {}; small data has sequences of up "
                        "to {} tokens",
                        length, kMostTokens));
    const std::int64_t most = std::min(kMostSamples, kMostTokens / length);
    return {std::clamp<std::int64_t>(2 * scenario.training.global_batch, 1, most), length};
}

MadeFile json_lines_item(const CorpusSize& amount, bool pack, const MadeUpLanguage& language,
                         int seed) {
    return {{},
            {},
            fmt::format("{} documents of made-up words, up to {} each", amount.samples,
                        amount.length + 1),
            [=](const std::filesystem::path& path) {
                write_file(path, [&](std::ostream& out) {
                    Draws draws(seed);
                    for (std::int64_t i = 0; i < amount.samples; ++i) {
                        const std::int64_t words = document_length(amount, pack, draws);
                        const nlohmann::json line{{"text", made_up_text(language, words, draws)}};
                        out << line.dump() << '\n';
                    }
                });
            }};
}

MadeFile text_item(const CorpusSize& amount, const MadeUpLanguage& language, int seed) {
    const std::int64_t words = amount.samples * amount.length + 1;
    return {{}, {}, fmt::format("{} made-up words", words), [=](const std::filesystem::path& path) {
                Draws draws(seed);
                write_file(path, made_up_text(language, words, draws) + "\n");
            }};
}

MadeFile tokens_item(const CorpusSize& amount, const scenarios::Scenario& scenario, int seed) {
    const DataOptions& data = scenario.training.run.data;
    const std::int64_t vocab = scenario.model.vocab;
    const auto write = [=, pack = data.pack,
                        end = data.end_of_text](const std::filesystem::path& path) {
        const TokenWidth width = vocab <= 65536 ? TokenWidth::Bits16 : TokenWidth::Bits32;
        write_token_file(path, width, "", [&](const TokenSink& sink) {
            Draws draws(seed);
            for (std::int64_t i = 0; i < amount.samples; ++i) {
                std::vector<std::int32_t> document(document_length(amount, pack, draws));
                for (std::int32_t& token : document)
                    token = static_cast<std::int32_t>(draws.skewed(vocab));
                if (end && *end < vocab) document.back() = static_cast<std::int32_t>(*end);
                sink(document);
            }
        });
    };
    return {{},
            {},
            fmt::format("{} samples of {} tokens below {}", amount.samples, amount.length, vocab),
            write};
}

MadeFile images_item(const scenarios::Scenario& scenario, bool cifar, int seed) {
    const std::int64_t classes = scenario.model.vocab;
    if (classes > kMostClasses)
        throw InputError(
            fmt::format("'model.vocab' is {}; small data has images of up to {} "
                        "classes",
                        classes, kMostClasses));
    const std::int64_t told = cifar ? std::min(classes, std::ssize(kCifarClasses)) : classes;
    const std::int64_t wanted =
        std::clamp<std::int64_t>(2 * scenario.training.global_batch, 1, kMostSamples);
    const ImageCount count{static_cast<int>(told), static_cast<int>((wanted + told - 1) / told),
                           kSide, static_cast<std::uint64_t>(seed)};
    return {{},
            {},
            fmt::format("{} images of {} by {} pixels, of {} {}", count.classes * count.per_class,
                        kSide, kSide, count.classes, count.classes == 1 ? "class" : "classes"),
            [=](const std::filesystem::path& path) {
                if (cifar)
                    write_cifar_file(path, count);
                else
                    write_image_folder(path, count);
            }};
}

MadeFile tokenizer_item(const std::filesystem::path& path, const MadeUpLanguage& language) {
    const auto count = std::ssize(language.tokens) + 1;
    if (path.extension() != ".json")
        throw InputError(
            fmt::format("'training.data.tokenizer' is {}; small data brings a "
                        "tokenizer.json, or a vocab.json with its merges.txt",
                        path.string()));
    if (path.filename() != "vocab.json")
        return {
            {},
            {},
            fmt::format("a tokenizer of {} tokens, of which most are words", count),
            [=](const std::filesystem::path& file) { write_file(file, tokenizer_json(language)); }};
    return {{},
            {},
            fmt::format("a vocabulary of {} tokens, of which most are words", count),
            [=](const std::filesystem::path& file) { write_file(file, vocab_json(language)); }};
}

}  // namespace debubble::exec
