#include <algorithm>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"
#include "schedule/generators/generators.h"
#include "text/key.h"

/// The reference of the keys against the readers: whatever it says of a key, a scenario with that
/// key shows.
namespace debubble::scenarios {
namespace {

using testing::HasSubstr;
using text::Form;
using text::Key;
using text::KeyAt;
using Overrides = std::vector<Override>;
using Keys = std::set<std::string>;

constexpr const char* kScenario =
    "model: {base: gpt2}\ncluster: {base: dgx-a100-80gb}\nframework: {base: megatron-2024}\n";
constexpr const char* kNoWord = "qqqqqqqqqqqqqqqq";  // too far from every word to be a slip of it

const std::vector<Key>& keys() {
    static const std::vector<Key> kKeys = scenario_keys();
    return kKeys;
}

std::vector<KeyAt> all() {
    return text::flattened(keys());
}

bool is_list_of_maps(const Key& key) {
    return std::ranges::any_of(key.forms, [](const Form& form) {
        const auto* list = std::get_if<text::ListForm>(&form.is);
        return list != nullptr && !list->of.empty() &&
               std::holds_alternative<text::MapForm>(list->of.front().is);
    });
}

/// `value` at the dotted path in a map: "{a: {b: value}}".
std::string map_with(const std::string& path, const std::string& value) {
    const std::size_t dot = path.find('.');
    if (dot == std::string::npos) return fmt::format("{{{}: {}}}", path, value);
    return fmt::format("{{{}: {}}}", path.substr(0, dot), map_with(path.substr(dot + 1), value));
}

/// Sets the key at `path`, in the first element of the list that it lies in, if any.
Override setting(const std::string& path, const std::string& value) {
    for (const KeyAt& at : all()) {
        if (!is_list_of_maps(*at.key) || !path.starts_with(at.path + '.')) continue;
        return {at.path, fmt::format("[{}]", map_with(path.substr(at.path.size() + 1), value))};
    }
    return {path, value};
}

std::vector<std::string> mistakes_with(const Overrides& overrides) {
    std::vector<std::string> messages;
    try {
        parse_scenario(kScenario, "keys.yaml", overrides);
    } catch (const InputError& error) {
        for (const Diagnostic& mistake : error.diagnostics()) messages.push_back(mistake.message);
    }
    return messages;
}

std::vector<std::string> mistakes_of_grid(const std::string& range) {
    try {
        parse_sweep(fmt::format("{}sweep:\n  nodes: {}\n", kScenario, range), "keys.yaml");
    } catch (const InputError& error) {
        std::vector<std::string> messages;
        for (const Diagnostic& mistake : error.diagnostics()) messages.push_back(mistake.message);
        return messages;
    }
    return {};
}

/// What a key needs beside it, so that it is read.
Overrides context_of(const std::string& path) {
    if (path == "training.optimizer.momentum") return {{"training.optimizer.name", "sgd"}};
    for (const char* key : {"steps", "nesterov", "scale_mode"})
        if (path == fmt::format("training.optimizer.{}", key))
            return {{"training.optimizer.name", "muon"}};
    if (path == "schedule.placement") return {{"schedule.csv", "nowhere.csv"}};
    if (path.starts_with("training.loss_scale")) return {{"training.precision", "fp16"}};
    for (const Generator& row : generators())
        for (const GeneratorOption& option : row.options)
            if (path == fmt::format("schedule.{}", option.key))
                return {{"schedule.name", std::string(row.name)}};
    return {};
}

/// The mistakes of a scenario in which the key has this value.
std::vector<std::string> mistakes_of(const std::string& path, const std::string& value) {
    const std::string range = fmt::format("sweep.{}.", text::kAnyPath);
    if (path.starts_with(range))
        return mistakes_of_grid(fmt::format("{{{}: {}}}", path.substr(range.size()), value));
    Overrides overrides = context_of(path);
    overrides.push_back(setting(path, value));
    return mistakes_with(overrides);
}

/// The choices after which a map is read in all ways that there are.
std::vector<Overrides> ways_to_read(const std::string& map) {
    if (map == "training.optimizer")
        return {{{"training.optimizer.name", "adamw"}},
                {{"training.optimizer.name", "sgd"}},
                {{"training.optimizer.name", "muon"}}};
    if (map != "schedule") return {{}};
    std::vector<Overrides> ways{{{"schedule.csv", "nowhere.csv"}}};
    for (const Generator& row : generators())
        ways.push_back({{"schedule.name", std::string(row.name)}});
    return ways;
}

/// The keys that the reader of a map asks for: it lists them when it is given another one.
Keys asked_for(const std::string& map, bool is_list) {
    static const std::regex kKnown(fmt::format("unknown key '{}'.*; known: (.*)", kNoWord));
    Keys asked;
    for (Overrides overrides : ways_to_read(map)) {
        const std::string at = map.empty() ? kNoWord : fmt::format("{}.{}", map, kNoWord);
        overrides.push_back(is_list ? Override{map, fmt::format("[{{{}: 1}}]", kNoWord)}
                                    : setting(at, "1"));
        for (const std::string& message : mistakes_with(overrides)) {
            std::smatch found;
            if (!std::regex_match(message, found, kKnown)) continue;
            std::istringstream words(found[1].str());
            for (std::string word; std::getline(words >> std::ws, word, ',');) asked.insert(word);
        }
    }
    return asked;
}

Keys names_of(std::span<const Key> of) {
    Keys names;
    for (const Key& key : of) names.insert(key.name);
    return names;
}

TEST(KeysOfAScenario, AreThoseThatItsReaderAsksFor) {
    EXPECT_EQ(names_of(keys()), asked_for("", false));
    int maps = 0;
    for (const KeyAt& at : all()) {
        if (text::keys_in(*at.key).empty() || at.path == "sweep") continue;
        ++maps;
        Keys described = names_of(text::keys_in(*at.key));
        const bool is_file = at.path == "model" || at.path == "cluster" || at.path == "framework" ||
                             at.path == "reliability" || at.path == "cluster.reliability";
        if (is_file) described.erase("base");  // it is resolved before the map is read
        EXPECT_EQ(described, asked_for(at.path, is_list_of_maps(*at.key))) << at.path;
    }
    EXPECT_GE(maps, 18);
}

TEST(KeysOfAScenario, OfARangeAreThoseThatTheGridAsksFor) {
    const auto mistakes = mistakes_of_grid(fmt::format("{{from: 1, to: 2, {}: 1}}", kNoWord));
    ASSERT_EQ(mistakes.size(), 1u);
    EXPECT_THAT(mistakes.front(), HasSubstr("known: from, to, step, factor"));
}

TEST(KeysOfAScenario, SayWhatTheyMeanAndWhatHoldsWithoutThem) {
    for (const KeyAt& at : all()) {
        EXPECT_FALSE(at.key->forms.empty()) << at.path;
        EXPECT_TRUE(at.key->meaning.ends_with('.')) << at.path;
        EXPECT_NE(at.key->required, !at.key->otherwise.empty())
            << at.path << ": " << at.key->otherwise;
    }
}

bool any_has(const std::vector<std::string>& messages, const std::string& part) {
    return std::ranges::any_of(messages, [&](const std::string& message) {
        return message.find(part) != std::string::npos;
    });
}

std::string refusal_of(const Key& key) {
    return fmt::format("'{}' must be", key.name);
}

TEST(KeysOfAScenario, HaveAnExampleThatIsRead) {
    for (const KeyAt& at : all()) {
        if (at.key->example.empty()) continue;
        const auto mistakes = mistakes_of(at.path, at.key->example);
        for (const std::string& part : {refusal_of(*at.key), std::string("unknown ")})
            EXPECT_FALSE(any_has(mistakes, part)) << at.path << '=' << at.key->example << '\n'
                                                  << fmt::format("{}", fmt::join(mistakes, "\n"));
    }
}

/// Values at and beyond both ends of a range.
struct Ends {
    std::vector<std::string> inside;
    std::vector<std::string> outside;
};

std::optional<Ends> ends_of(const Form& form) {
    if (const auto* whole = std::get_if<text::WholeForm>(&form.is)) {
        Ends ends{{fmt::format("{}", whole->least), fmt::format("{}", whole->most)},
                  {fmt::format("{}", whole->least - 1)}};
        if (whole->most != std::numeric_limits<std::int64_t>::max())
            ends.outside.push_back(fmt::format("{}", whole->most + 1));
        return ends;
    }
    if (const auto* real = std::get_if<text::RealForm>(&form.is)) {
        const auto beyond = [](double end, double sign) {
            return fmt::format("{}", end + sign * std::max(std::abs(end), 1e-9) / 1024);
        };
        return Ends{{fmt::format("{}", real->least), fmt::format("{}", real->most)},
                    {beyond(real->least, -1), beyond(real->most, 1)}};
    }
    return std::nullopt;
}

TEST(KeysOfAScenario, HaveTheRangesThatTheReaderAdmits) {
    int ranges = 0;
    for (const KeyAt& at : all())
        for (const Form& form : at.key->forms) {
            const auto ends = ends_of(form);
            if (!ends) continue;
            ++ranges;
            for (const std::string& value : ends->inside)
                EXPECT_FALSE(any_has(mistakes_of(at.path, value), refusal_of(*at.key)))
                    << at.path << '=' << value;
            for (const std::string& value : ends->outside)
                EXPECT_TRUE(any_has(mistakes_of(at.path, value), refusal_of(*at.key)))
                    << at.path << '=' << value;
        }
    EXPECT_GE(ranges, 80);
}

TEST(KeysOfAScenario, HaveTheWordsThatTheReaderKnows) {
    int lists = 0;
    for (const KeyAt& at : all()) {
        const auto* words = std::get_if<text::WordForm>(&at.key->forms.front().is);
        if (words == nullptr || at.path == "parallel.data") continue;  // a number, or one word
        ++lists;
        EXPECT_TRUE(any_has(mistakes_of(at.path, kNoWord),
                            fmt::format("; known: {}", fmt::join(words->words, ", "))))
            << at.path << '\n'
            << fmt::format("{}", fmt::join(mistakes_of(at.path, kNoWord), "\n"));
        for (const std::string& word : words->words)
            EXPECT_FALSE(any_has(mistakes_of(at.path, word), "unknown ")) << at.path << '=' << word;
    }
    EXPECT_GE(lists, 30);
}

/// A key whose default is a value has the same effect as without it.
TEST(KeysOfAScenario, HaveTheDefaultsThatTheReaderApplies) {
    const auto otherwise = [](const char* path) {
        const auto found = all();
        return std::ranges::find(found, std::string(path), &KeyAt::path)->key->otherwise;
    };
    const Scenario plain = parse_scenario("model: gpt2\ncluster: dgx-a100-80gb\n", "plain.yaml");
    EXPECT_EQ(otherwise("schedule"), plain.schedule.name);
    EXPECT_EQ(otherwise("schedule.name"), plain.schedule.name);
    EXPECT_EQ(otherwise("framework"), plain.framework.name);
    EXPECT_EQ(otherwise("training.precision"), "bf16");
    EXPECT_EQ(plain.training.precision, Precision{});
    EXPECT_EQ(otherwise("training.optimizer.weight_decay"), "0.01 (adamw, muon), 0 (adam, sgd)");
    EXPECT_EQ(otherwise("training.optimizer.betas"), "[0.9, 0.999] (adamw, adam)");
    EXPECT_EQ(
        otherwise("model.norm"),
        "layer_norm (gpt2, gpt_neox, mpt, vit), rms_norm (llama, phi3, deepseek, gpt_oss, llama4, "
        "qwen3_next, nemotron_h, planned)");
    EXPECT_EQ(otherwise("model.channels"), "3 (vit)");
    EXPECT_EQ(otherwise("parallel.zero_stage"), "0");
    EXPECT_EQ(otherwise("cluster.gpu.host_link"), "25 GB/s");
    EXPECT_EQ(otherwise("framework.grad_bucket"), "160 MB");
}

}  // namespace
}  // namespace debubble::scenarios
