#include "exec/io/data/training_data.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "exec/io/data/data_set.h"
#include "exec/io/data/tokens/tokenizer.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {
namespace {

using scenarios::DataOptions;

constexpr std::pair<std::string DataOptions::*, CorpusKind> kCorpora[] = {
    {&DataOptions::tokens, CorpusKind::Tokens},
    {&DataOptions::text, CorpusKind::Text},
    {&DataOptions::jsonl, CorpusKind::JsonLines}};

/// How every corpus of a training is read.
struct TokenReading {
    CorpusKind kind = CorpusKind::Text;
    std::unique_ptr<Tokenizer> tokenizer;  ///< unset for token files without `data.tokenizer`
    std::optional<std::int32_t> end_of_text;
    bool pack = true;
    TokenRules rules;
    std::optional<std::filesystem::path> cache;
};

std::int32_t token_of(std::int64_t token, const char* key, std::int64_t vocab) {
    if (token >= vocab)
        throw InputError(fmt::format("'{}' is {}, but the model's vocabulary ends at {}", key,
                                     token, vocab - 1));
    return static_cast<std::int32_t>(token);
}

TokenReading token_reading(CorpusKind kind, const scenarios::Scenario& scenario) {
    const DataOptions& data = scenario.training.run.data;
    TokenReading reading;
    reading.kind = kind;
    TokenRules& rules = reading.rules;
    rules.seq_length = scenario.training.seq_length;
    rules.vocab = scenario.model.vocab;
    rules.ignore_index = data.ignore_index;
    if (!data.cache.empty()) reading.cache = data.cache;
    reading.pack = data.pack;

    const std::string& file = data.tokenizer;
    if (kind != CorpusKind::Tokens || !file.empty()) {
        reading.tokenizer = make_tokenizer(file);
        // A model of 256 tokens may read bytes, which then hold no end-of-text.
        if (!file.empty() && reading.tokenizer->vocab() > rules.vocab)
            throw bad_file(
                file,
                fmt::format("a tokenizer of {} tokens does not fit a model with a vocabulary of {}",
                            reading.tokenizer->vocab(), rules.vocab));
        reading.end_of_text = reading.tokenizer->end_of_text();
    }
    if (data.end_of_text)
        reading.end_of_text = token_of(*data.end_of_text, "data.end_of_text", rules.vocab);
    if (!reading.pack && !reading.end_of_text)
        throw InputError(
            "'data.pack: false' shows one document at a time, but where a document ends is "
            "unknown: give 'data.end_of_text' or 'data.tokenizer'");
    if (data.pad_token)
        rules.pad_token = token_of(*data.pad_token, "data.pad_token", rules.vocab);
    else if (reading.end_of_text && *reading.end_of_text < rules.vocab)
        rules.pad_token = *reading.end_of_text;
    return reading;
}

/// Throws InputError if the token that was chosen to end JSON lines is in their texts, too, where
/// it would end a sample. A tokenizer's own end-of-text may be written into texts on purpose.
void check_ends(const TokenReading& reading, const TokenFile& tokens, const std::string& path) {
    if (reading.kind != CorpusKind::JsonLines ||
        reading.end_of_text == reading.tokenizer->end_of_text())
        return;
    const std::int64_t ends = std::ssize(tokens.find(*reading.end_of_text));
    const MappedFile file(path);
    const std::int64_t texts = file.whole([&](std::string_view) { return count_json_lines(file); });
    if (ends > texts)
        throw bad_file(path, fmt::format("token {}, which 'data.end_of_text' puts after each text, "
                                         "is also inside texts ({} times), where 'data.pack: "
                                         "false' would end a sample: choose a token that no text "
                                         "has",
                                         *reading.end_of_text, ends - texts));
}

std::shared_ptr<const DataSet> open_tokens(const TokenReading& reading, const std::string& path) {
    auto file = reading.kind == CorpusKind::Tokens
                    ? std::make_shared<const TokenFile>(path)
                    : open_corpus({reading.kind, path, reading.cache, reading.end_of_text},
                                  *reading.tokenizer);
    if (!reading.pack) check_ends(reading, *file, path);
    return reading.pack ? packed_tokens(std::move(file), reading.rules)
                        : padded_documents(std::move(file), *reading.end_of_text, reading.rules);
}

ImageRules image_rules(const DataOptions& data, const models::Architecture& model) {
    ImageRules rules;
    rules.side = static_cast<int>(model.image_size.value_or(rules.side));
    rules.channels = static_cast<int>(model.channels.value_or(rules.channels));
    rules.ignore_index = data.ignore_index;
    if (rules.channels != 1 && rules.channels != 3)
        throw InputError(fmt::format("{} takes images of {} channels; files have 1 (grey) or 3",
                                     model.name, rules.channels));
    const auto take = [&](const char* key, const std::vector<double>& given,
                          std::vector<float>& values) {
        if (given.empty()) return;
        if (given.size() != 1 && std::ssize(given) != rules.channels)
            throw InputError(fmt::format("'{}' has {} numbers for images of {} channels", key,
                                         given.size(), rules.channels));
        values.clear();
        for (const double value : given) values.push_back(static_cast<float>(value));
    };
    take("data.mean", data.mean, rules.mean);
    take("data.std", data.deviation, rules.deviation);
    return rules;
}

}  // namespace

void check_source(const scenarios::Scenario& scenario) {
    const DataOptions& data = scenario.training.run.data;
    const bool sees = scenario.model.sees_images();
    if (data.has_source() && sees != data.images.empty()) return;
    throw InputError(sees ? fmt::format("{} learns from images: give 'training.data.images'",
                                        scenario.model.name)
                          : fmt::format("{} learns from tokens: give 'training.data' with one of "
                                        "'tokens', 'text' and 'jsonl'",
                                        scenario.model.name));
}

TrainingData open_training_data(const scenarios::Scenario& scenario) {
    check_source(scenario);
    const scenarios::RunOptions& run = scenario.training.run;
    const DataOptions& asked = run.data;
    const Deal deal{scenario.training.global_batch, scenario.parallel.data,
                    scenario.training.micro_batch};
    const Order order{asked.shuffle, run.seed, false};
    const auto opened = [&](const std::string& path, const auto& open) {
        TrainingData data{Batches(open(path), deal, order), std::nullopt, asked.ignore_index};
        if (!asked.eval.empty()) data.eval.emplace(open(asked.eval), deal, Order{.once = true});
        return data;
    };

    if (const std::string& images = asked.images; !images.empty()) {
        const ImageRules rules = image_rules(asked, scenario.model);
        const std::vector<std::string> classes = image_classes(images);
        if (std::ssize(classes) > scenario.model.vocab)
            throw bad_file(images,
                           fmt::format("{} classes are too many for {}, which tells {} "
                                       "apart",
                                       classes.size(), scenario.model.name, scenario.model.vocab));
        TrainingData data = opened(
            images, [&](const std::string& path) { return open_images(path, classes, rules); });
        data.classes = classes;
        return data;
    }
    const auto& [source, kind] = *std::ranges::find_if(
        kCorpora, [&](const auto& corpus) { return !(asked.*corpus.first).empty(); });
    const TokenReading reading = token_reading(kind, scenario);
    return opened(asked.*source,
                  [&](const std::string& file) { return open_tokens(reading, file); });
}

}  // namespace debubble::exec
