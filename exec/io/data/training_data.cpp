#include "exec/io/data/training_data.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "exec/io/bad_file.h"
#include "exec/io/data/corpus.h"
#include "exec/io/data/image_data_set.h"
#include "exec/io/data/token_data_set.h"
#include "text/quantity.h"

namespace debubble::exec {
namespace {

/// The checked keys of a scenario, each as what it stands for.
class DataKeys {
public:
    explicit DataKeys(const std::map<std::string, std::string>& keys) : keys_(&keys) {}

    const std::string* find(const std::string& key) const {
        const auto found = keys_->find(key);
        return found == keys_->end() ? nullptr : &found->second;
    }
    std::string text(const std::string& key) const { return find(key) ? *find(key) : ""; }
    bool flag(const std::string& key, bool otherwise) const {
        return find(key) ? *find(key) == "true" : otherwise;
    }
    std::optional<std::int64_t> whole(const std::string& key) const {
        return find(key) ? text::parse_whole(*find(key)) : std::nullopt;
    }

private:
    const std::map<std::string, std::string>* keys_;
};

constexpr std::pair<const char*, CorpusKind> kCorpora[] = {{"data.tokens", CorpusKind::Tokens},
                                                           {"data.text", CorpusKind::Text},
                                                           {"data.jsonl", CorpusKind::JsonLines}};

/// How every corpus of a training is read.
struct TokenReading {
    CorpusKind kind = CorpusKind::Text;
    std::unique_ptr<Tokenizer> tokenizer;  ///< none for token files without `data.tokenizer`
    std::optional<std::int32_t> end_of_text;
    bool pack = true;
    TokenRules rules;
    std::string cache;
};

std::int32_t token_of(const DataKeys& keys, const char* key, std::int64_t vocab) {
    const std::int64_t token = *keys.whole(key);
    if (token >= vocab)
        throw InputError(fmt::format("'{}' is {}, but the model's vocabulary ends at {}", key,
                                     token, vocab - 1));
    return static_cast<std::int32_t>(token);
}

TokenReading token_reading(const DataKeys& keys, CorpusKind kind, std::int32_t ignore_index,
                           const scenarios::Scenario& scenario) {
    TokenReading reading;
    reading.kind = kind;
    TokenRules& rules = reading.rules;
    rules.seq_length = scenario.training.seq_length;
    rules.vocab = scenario.model.vocab;
    rules.ignore_index = ignore_index;
    reading.cache = keys.text("data.cache");
    reading.pack = keys.flag("data.pack", true);

    const std::string file = keys.text("data.tokenizer");
    if (kind != CorpusKind::Tokens || !file.empty()) {
        reading.tokenizer = make_tokenizer(file);
        // A model of 256 tokens may read bytes that hold no end-of-text.
        if (!file.empty() && reading.tokenizer->vocab() > rules.vocab)
            throw bad_file(file, fmt::format("a tokenizer of {} tokens is for no model with a "
                                             "vocabulary of {}",
                                             reading.tokenizer->vocab(), rules.vocab));
        reading.end_of_text = reading.tokenizer->end_of_text();
    }
    if (keys.find("data.end_of_text"))
        reading.end_of_text = token_of(keys, "data.end_of_text", rules.vocab);
    if (!reading.pack && !reading.end_of_text)
        throw InputError(
            "'data.pack: false' shows a document at a time, but where one ends is "
            "unknown: give 'data.end_of_text' or 'data.tokenizer'");
    if (keys.find("data.pad_token"))
        rules.pad_token = token_of(keys, "data.pad_token", rules.vocab);
    else if (reading.end_of_text && *reading.end_of_text < rules.vocab)
        rules.pad_token = *reading.end_of_text;
    return reading;
}

std::shared_ptr<const DataSet> open_tokens(const TokenReading& reading, const std::string& path) {
    auto file = reading.kind == CorpusKind::Tokens
                    ? std::make_shared<const TokenFile>(path)
                    : open_corpus({reading.kind, path, reading.cache}, *reading.tokenizer);
    return reading.pack ? packed_tokens(std::move(file), reading.rules)
                        : padded_documents(std::move(file), *reading.end_of_text, reading.rules);
}

/// "[0.5, 0.4, 0.3]", as the reader of scenarios keeps it.
std::vector<float> numbers_of(std::string_view list) {
    std::vector<float> numbers;
    for (list.remove_prefix(1); list.size() > 1;) {
        const std::string_view number = list.substr(0, list.find_first_of(",]"));
        numbers.push_back(static_cast<float>(*text::parse_real(number)));
        list.remove_prefix(std::min(number.size() + 2, list.size()));
    }
    return numbers;
}

ImageRules image_rules(const DataKeys& keys, const models::Architecture& model,
                       std::int32_t ignore_index) {
    ImageRules rules;
    rules.side = static_cast<int>(model.image_size.value_or(rules.side));
    rules.channels = static_cast<int>(model.channels.value_or(rules.channels));
    rules.ignore_index = ignore_index;
    if (rules.channels != 1 && rules.channels != 3)
        throw InputError(fmt::format("{} takes images of {} channels; files have 1 (grey) or 3",
                                     model.name, rules.channels));
    for (const auto& [key, values] :
         {std::pair("data.mean", &rules.mean), std::pair("data.std", &rules.deviation)}) {
        if (!keys.find(key)) continue;
        *values = numbers_of(*keys.find(key));
        if (values->size() != 1 && std::ssize(*values) != rules.channels)
            throw InputError(fmt::format("'{}' has {} numbers for images of {} channels", key,
                                         values->size(), rules.channels));
    }
    return rules;
}

[[noreturn]] void refuse_source(const scenarios::Scenario& scenario) {
    throw InputError(
        scenario.model.family == models::Family::Vit
            ? fmt::format("{} learns from images: give 'training.data.images'", scenario.model.name)
            : fmt::format("{} learns from tokens: give 'training.data' with one of "
                          "'tokens', 'text' and 'jsonl'",
                          scenario.model.name));
}

}  // namespace

TrainingData open_training_data(const scenarios::Scenario& scenario) {
    const DataKeys keys(scenario.training.run_keys);
    const Deal deal{scenario.training.global_batch, scenario.parallel.data,
                    scenario.training.micro_batch};
    const Order order{keys.flag("data.shuffle", false),
                      static_cast<std::uint64_t>(keys.whole("seed").value_or(0)), false};
    const std::int32_t ignore_index =
        static_cast<std::int32_t>(keys.whole("data.ignore_index").value_or(-100));
    const auto opened = [&](const std::string& path, const auto& open) {
        TrainingData data{Batches(open(path), deal, order), std::nullopt, ignore_index};
        const std::string eval = keys.text("data.eval");
        if (!eval.empty()) data.eval.emplace(open(eval), deal, Order{.once = true});
        return data;
    };

    const bool sees = scenario.model.family == models::Family::Vit;
    if (const std::string images = keys.text("data.images"); sees && !images.empty()) {
        const ImageRules rules = image_rules(keys, scenario.model, ignore_index);
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
    for (const auto& [key, kind] : kCorpora) {
        const std::string path = keys.text(key);
        if (sees || path.empty()) continue;
        const TokenReading reading = token_reading(keys, kind, ignore_index, scenario);
        return opened(path, [&](const std::string& file) { return open_tokens(reading, file); });
    }
    refuse_source(scenario);
}

}  // namespace debubble::exec
