#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/overloaded.h"
#include "models/architecture_reader.h"
#include "models/read/architecture_words.h"
#include "tests/support/source_folder.h"
#include "text/document_readers.h"

namespace debubble::models {
namespace {

/// What a published file has beside the network is in no file of this project.
void expect_read_back(Architecture written) {
    written.left_out.clear();
    written.tower_parameters = 0;
    text::Mistakes mistakes;
    const text::NodePtr map = text::parse_json(architecture_json(written), "model.json");
    EXPECT_EQ(read_own_architecture(map, mistakes), written) << written.name;
    EXPECT_TRUE(mistakes.empty()) << written.name;
}

TEST(ArchitectureWriter, TheWholeZooIsReadBack) {
    for (const std::string& name : zoo()) expect_read_back(read_model(name));
}

Architecture read(const std::string& yaml) {
    text::Mistakes mistakes;
    const Architecture network =
        read_own_architecture(text::parse_yaml(yaml, "model.yaml"), mistakes);
    mistakes.throw_if_any();
    return network;
}

/// What a family has unless its file says otherwise, and the other way round.
TEST(ArchitectureWriter, WhatAFamilyUsuallyHasIsReadBackWhereItIsNotThere) {
    const std::pair<const char*, const char*> cases[] = {
        {"gpt_neox", "parallel_residual: true"},
        {"gpt_neox", "parallel_residual: false"},
        {"gpt_neox", "layer_groups: [{parallel_residual: true}, {parallel_residual: false}]"},
        {"gpt_neox", "tied_embedding: true"},
        {"llama", "parallel_residual: true"},
        {"llama", "parallel_residual: false"},
        {"llama", "linear_bias: true"},
        {"mpt", "norm_bias: true"},
        {"mpt", "norm_bias: false"},
        {"mpt", "linear_bias: true"},
        {"gpt2", "norm_bias: false"},
        {"gpt2", "tied_embedding: false"}};
    for (const auto& [family, key] : cases)
        expect_read_back(
            read(fmt::format("{{name: one, family: {}, layers: 2, hidden: 64, heads: 4, "
                             "vocab: 100, max_positions: 64, {}}}",
                             family, key)));
}

/// 192 + 64 and 64 + 64 are what GLM-4.7-Flash's and Mistral 4's values have.
TEST(ArchitectureWriter, LatentValuesAsWideAsTheirKeysAreReadBack) {
    for (const int value_dim : {256, 255, 192, 64})
        expect_read_back(read(fmt::format(
            "{{name: one, family: deepseek, layers: 2, hidden: 64, heads: 2, vocab: 100, "
            "max_positions: 64, latent_attention: {{query_rank: 32, key_rank: 16, head_dim: 192, "
            "rope_dim: 64, value_dim: {}}}}}",
            value_dim)));
}

TEST(ArchitectureWriter, NetworksOfTransformersAreReadBack) {
    int networks = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(source_folder() / "tests/exec/goldens/hugging_face")) {
        const std::filesystem::path config = entry.path() / "config.json";
        if (!std::filesystem::exists(config)) continue;
        expect_read_back(read_model(config.string()));
        ++networks;
    }
    EXPECT_GE(networks, 20);
}

/// Files of networks with a few keys of the reader's own table and random values: what a person may
/// write. Values are small, so that many of the files are consistent.
class RandomFiles {
public:
    std::string next() {
        const std::string family = one_of(words_of(key("family")));
        const bool images = family == "\"vit\"";
        std::map<std::string, std::string> values{
            {"family", family}, {"name", "\"one\""}, {"hidden", "64"},
            {"heads", "4"},     {"vocab", "100"},    {"layers", std::to_string(below(3) + 1)}};
        if (images)
            values.merge(Values{{"image_size", "16"}, {"patch_size", "4"}});
        else
            values["max_positions"] = "64";
        if (below(3) == 0) values.merge(Values{{"experts", "8"}, {"experts_per_token", "2"}});
        if (below(4) == 0) add(key("latent_attention"), values);
        for (int more = below(5); more > 0; --more) add(keys_[below(std::ssize(keys_))], values);
        return map_of(values);
    }

private:
    using Values = std::map<std::string, std::string>;

    int below(std::int64_t end) {
        return static_cast<int>(random_() % static_cast<std::uint64_t>(end));
    }
    template <class T>
    const T& one_of(const std::vector<T>& all) {
        return all[static_cast<std::size_t>(below(std::ssize(all)))];
    }
    const text::Key& key(std::string_view name) const {
        return *std::ranges::find(keys_, name, &text::Key::name);
    }
    static std::vector<std::string> words_of(const text::Key& key) {
        std::vector<std::string> words;
        for (const std::string& word : std::get<text::WordForm>(key.forms.front().is).words)
            words.push_back(fmt::format("\"{}\"", word));
        return words;
    }
    static std::string map_of(const Values& values) {
        std::vector<std::string> entries;
        for (const auto& [name, value] : values)
            entries.push_back(fmt::format("\"{}\": {}", name, value));
        return fmt::format("{{{}}}", fmt::join(entries, ", "));
    }

    void add(const text::Key& key, Values& values) {
        // Patterns of sharding name parameters, and a base is another file.
        static const std::set<std::string> kLeft{"base",   "name",       "family", "sharding",
                                                 "layers", "image_size", "hidden", "patch_size"};
        if (kLeft.contains(key.name)) return;
        if (key.name == "layer_groups") return add_groups(key, values);
        if (key.name == "vision") {
            const std::string sizes = value_of(key.forms);
            values["vision"] = sizes.substr(0, sizes.size() - 1) + ", \"projector\": [32, 8, 64]}";
            return;
        }
        if (key.name.starts_with("image") || key.name.starts_with("freeze"))
            add(this->key("vision"), values);  // of which they are
        if (std::string value = value_of(key.forms); !value.empty()) values[key.name] = value;
        if (key.name == "experts") values["experts_per_token"] = "2";
        // A mixer has its sizes.
        for (const char* mixer : {"mamba", "delta_net"})
            if (values["mixer"] == fmt::format("\"{}\"", mixer) && !values.contains(mixer))
                values[mixer] = value_of(this->key(mixer).forms);
        if (values["mixer"].empty()) values.erase("mixer");
    }
    void add_groups(const text::Key& key, Values& values) {
        std::vector<text::Key> of_group;
        for (const text::Key& one : text::keys_in(key))
            if (one.name != "pattern" && one.name != "count") of_group.push_back(one);
        std::vector<std::string> groups;
        int layers = 0;
        for (int more = below(3) + 1; more > 0; --more) {
            Values group{{"count", std::to_string(below(2) + 1)}};
            layers += std::stoi(group["count"]);
            for (int keys = below(3); keys > 0; --keys) add(one_of(of_group), group);
            groups.push_back(map_of(group));
        }
        values["layers"] = std::to_string(layers);
        values["layer_groups"] = fmt::format("[{}]", fmt::join(groups, ", "));
    }
    /// Empty: this test makes no value of that form.
    std::string value_of(const std::vector<text::Form>& forms) {
        const auto bounded = [&](auto least, auto most, auto value) {
            return fmt::format("{}", std::clamp(value, least, most));
        };
        return std::visit(
            Overloaded{[&](const text::WholeForm& form) {
                           static const std::vector<std::int64_t> kSmall{0, 1, 2,  3,  4,
                                                                         6, 8, 16, 24, 64};
                           return bounded(form.least, form.most, one_of(kSmall));
                       },
                       [&](const text::RealForm& form) {
                           static const std::vector<double> kSome{0, 1.0 / 3, 1, 2.5, 1e4, 1e7};
                           return bounded(form.least, form.most, one_of(kSome));
                       },
                       [&](const text::FlagForm&) { return fmt::format("{}", below(2) == 1); },
                       [&](const text::WordForm& form) {
                           return fmt::format("\"{}\"", one_of(form.words));
                       },
                       [&](const text::TextForm&) { return std::string("\"words\""); },
                       [&](const text::MapForm& form) {
                           Values values;
                           for (const text::Key& key : form.keys)
                               if (key.required || below(2) == 1)
                                   if (std::string value = value_of(key.forms); !value.empty())
                                       values[key.name] = value;
                           return map_of(values);
                       },
                       [&](const auto&) { return std::string(); }},
            one_of(forms).is);
    }

    std::vector<text::Key> keys_ = architecture_keys();
    std::mt19937_64 random_{1};
};

TEST(ArchitectureWriter, WhateverCanBeWrittenIsReadBack) {
    RandomFiles files;
    std::set<std::string> seen;
    int networks = 0;
    for (int i = 0; i < 20'000; ++i) {
        text::Mistakes mistakes;
        const std::string text = files.next();
        SCOPED_TRACE(text);
        const text::NodePtr map = text::parse_json(text, "random.json");
        const Architecture network = read_own_architecture(map, mistakes);
        if (!mistakes.empty()) continue;
        ++networks;
        for (const text::Node::Entry& entry : map->entries) seen.insert(entry.key);
        expect_read_back(network);
        if (HasFailure()) return;
    }
    EXPECT_GE(networks, 2000);
    // Every key of the table was in one of the networks, so that a new one is among them.
    for (const text::Key& key : architecture_keys())
        if (key.name != "base" && key.name != "sharding") {
            EXPECT_TRUE(seen.contains(key.name)) << key.name;
        }
}

}  // namespace
}  // namespace debubble::models
