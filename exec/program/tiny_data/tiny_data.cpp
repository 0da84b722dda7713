#include "exec/program/tiny_data/tiny_data.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <ostream>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "base/file.h"
#include "base/outputs.h"
#include "exec/io/data/cifar.h"
#include "exec/io/data/token_file.h"
#include "exec/io/data/training_data.h"
#include "exec/program/tiny_data/made_up_images.h"
#include "exec/program/tiny_data/made_up_language.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

using scenarios::DataOptions;

constexpr std::int64_t kMostSamples = 256;
constexpr std::int64_t kMostTokens = 1 << 20;
constexpr std::int64_t kMostClasses = 1000;
constexpr int kSide = 32;  ///< of images, in pixels: CIFAR's; a training enlarges them

/// One file or folder to make.
struct Item {
    std::string key;  ///< of the scenario, which names it
    fs::path path;
    std::string content;  ///< for a sentence
    std::function<void(const fs::path&)> write;
};

/// The size of a corpus: samples of so many tokens.
struct Amount {
    std::int64_t samples = 0;
    std::int64_t length = 0;
};

Amount amount_for(const scenarios::Scenario& scenario) {
    const std::int64_t length = scenario.training.seq_length;
    if (length > kMostTokens)
        throw InputError(
            fmt::format("'training.seq_length' is {}; small data has sequences of up "
                        "to {} tokens",
                        length, kMostTokens));
    const std::int64_t most = std::min(kMostSamples, kMostTokens / length);
    return {std::clamp<std::int64_t>(2 * scenario.training.global_batch, 1, most), length};
}

/// Documents as long as a sample where they are put one behind the other; else some are shorter,
/// and are padded.
std::int64_t document_length(const Amount& amount, bool pack, Draws& draws) {
    if (pack) return amount.length + 1;
    return amount.length / 2 + draws.below(amount.length / 2 + 1) + 1;
}

Item json_lines_item(const Amount& amount, bool pack, const MadeUpLanguage& language, int seed) {
    return {{},
            {},
            fmt::format("{} documents of made-up words, up to {} each", amount.samples,
                        amount.length + 1),
            [=](const fs::path& path) {
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

Item text_item(const Amount& amount, const MadeUpLanguage& language, int seed) {
    const std::int64_t words = amount.samples * amount.length + 1;
    return {{}, {}, fmt::format("{} made-up words", words), [=](const fs::path& path) {
                Draws draws(seed);
                write_file(path, made_up_text(language, words, draws) + "\n");
            }};
}

Item tokens_item(const Amount& amount, const scenarios::Scenario& scenario, int seed) {
    const DataOptions& data = scenario.training.run.data;
    const std::int64_t vocab = scenario.model.vocab;
    const auto write = [=, pack = data.pack, end = data.end_of_text](const fs::path& path) {
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

Item images_item(const scenarios::Scenario& scenario, bool cifar, int seed) {
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
            [=](const fs::path& path) {
                if (cifar)
                    write_cifar_file(path, count);
                else
                    write_image_folder(path, count);
            }};
}

Item tokenizer_item(const fs::path& path, const MadeUpLanguage& language) {
    const auto count = std::ssize(language.tokens) + 1;
    if (path.extension() != ".json")
        throw InputError(
            fmt::format("'training.data.tokenizer' is {}; small data brings a "
                        "tokenizer.json, or a vocab.json with its merges.txt",
                        path.string()));
    if (path.filename() != "vocab.json")
        return {{},
                {},
                fmt::format("a tokenizer of {} tokens, of which most are words", count),
                [=](const fs::path& file) { write_file(file, tokenizer_json(language)); }};
    return {{},
            {},
            fmt::format("a vocabulary of {} tokens, of which most are words", count),
            [=](const fs::path& file) { write_file(file, vocab_json(language)); }};
}

class Making {
public:
    explicit Making(const scenarios::Scenario& scenario)
        : scenario_(scenario), data_(scenario.training.run.data) {
        check_source(scenario);
        if (scenario.model.sees_images())
            add_kind("images", data_.images, [&](const fs::path& path, int seed) {
                return images_item(scenario_, path.extension() == ".bin", seed);
            });
        else
            add_corpora();
    }

    const std::vector<Item>& items() const { return items_; }

private:
    void add(std::string key, const fs::path& path, Item item) {
        item.key = "training.data." + std::move(key);
        item.path = path;
        items_.push_back(std::move(item));
    }

    /// The data to train on and, if it is named, that to evaluate on.
    void add_kind(const char* key, const std::string& path,
                  const std::function<Item(const fs::path&, int)>& make) {
        add(key, path, make(path, 1));
        if (!data_.eval.empty()) add("eval", data_.eval, make(data_.eval, 2));
    }

    void add_corpora() {
        const Amount amount = amount_for(scenario_);
        if (!data_.tokens.empty())
            return add_kind("tokens", data_.tokens, [&](const fs::path&, int seed) {
                return tokens_item(amount, scenario_, seed);
            });
        const bool bytes = data_.tokenizer.empty();
        if (!bytes && scenario_.model.vocab < 257)
            throw InputError(
                fmt::format("'model.vocab' is {}; a tokenizer has 257 tokens or more: the bytes "
                            "and end-of-text",
                            scenario_.model.vocab));
        const MadeUpLanguage language = made_up_language(scenario_.model.vocab);
        if (!data_.text.empty())
            add_kind("text", data_.text,
                     [&](const fs::path&, int seed) { return text_item(amount, language, seed); });
        else
            add_kind("jsonl", data_.jsonl, [&](const fs::path&, int seed) {
                return json_lines_item(amount, data_.pack, language, seed);
            });
        if (!bytes) add_tokenizer(data_.tokenizer, language);
    }

    void add_tokenizer(const fs::path& path, const MadeUpLanguage& language) {
        add("tokenizer", path, tokenizer_item(path, language));
        if (path.filename() == "vocab.json")
            add("tokenizer", path.parent_path() / "merges.txt",
                {{},
                 {},
                 fmt::format("{} merges", language.merges.size()),
                 [=](const fs::path& file) { write_file(file, merges_txt(language)); }});
    }

    const scenarios::Scenario& scenario_;
    const DataOptions& data_;
    std::vector<Item> items_;
};

/// A scenario of somebody else must not write where its reader does not expect it.
void check_place(const Item& item) {
    std::error_code error;
    if (fs::exists(fs::symlink_status(item.path, error)))
        throw InputError(
            fmt::format("{} is there already, and is not replaced; remove it, or name another "
                        "place by --set {}=...",
                        item.path.string(), item.key));
    const fs::path here = fs::current_path();
    const fs::path there = fs::weakly_canonical(fs::absolute(item.path), error);
    const fs::path inside = there.lexically_relative(here);
    if (error || inside.empty() || *inside.begin() == ".." || inside == ".")
        throw InputError(fmt::format(
            "'{}' is {}, which lies outside the current folder; small data is made below it only",
            item.key, item.path.string()));
}

}  // namespace

std::vector<std::string> make_tiny_data(const scenarios::Scenario& scenario) {
    const Making making(scenario);
    Outputs outputs;
    for (const Item& item : making.items()) {
        check_place(item);
        outputs.add(item.key, item.path.string());
    }
    outputs.check();
    std::vector<std::string> made;
    for (const Item& item : making.items()) {
        item.write(item.path);
        made.push_back(fmt::format("{}: {}", item.path.string(), item.content));
    }
    return made;
}

}  // namespace debubble::exec
