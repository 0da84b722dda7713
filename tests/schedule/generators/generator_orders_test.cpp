#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/sha256.h"
#include "schedule/generators/generators.h"
#include "tests/support/source_folder.h"

/// Orders, action by action. The goldens come from reference_orders.py, which derives every order
/// a second time and says how to compare it with PyTorch.
namespace debubble {
namespace {

/// "interleaved-1f1b:rounds=pytorch" is a generator and an option.
struct Key {
    explicit Key(const std::string& text) : name(text.substr(0, text.find(':'))) {
        const auto colon = text.find(':');
        if (colon == std::string::npos) return;
        const auto equals = text.find('=', colon);
        options.values[text.substr(colon + 1, equals - colon - 1)] = text.substr(equals + 1);
    }
    std::string name;
    GeneratorOptions options;
};

std::string order_text(const Key& key, const PipelineShape& shape) {
    if (find_generator(key.name)->why_not(shape, key.options)) return "none\n";
    return to_text(generate(key.name, shape, key.options));
}

std::string golden(const std::string& file) {
    return read_file((source_folder() / "tests/schedule/golden" / file).string());
}

TEST(GeneratorOrder, IsThePublishedOne) {
    std::istringstream blocks(golden("orders.txt"));
    std::string line;
    int compared = 0;
    while (std::getline(blocks, line)) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream head(line);
        std::string key;
        PipelineShape shape;
        head >> key >> shape.ranks >> shape.stages_per_rank >> shape.micro_batches >> shape.slices;
        std::string expected;
        for (int rank = 0; rank < shape.ranks && std::getline(blocks, line); ++rank)
            expected += line + '\n';
        EXPECT_EQ(order_text(Key(key), shape), expected) << key;
        ++compared;
    }
    EXPECT_EQ(compared, 14);
}

/// One digest covers a generator's orders on `ranks` ranks for every v, m and k of the script.
std::string digest(const std::string& text, int ranks) {
    const Key key(text);
    const Generator& generator = *find_generator(key.name);
    const int most_stages = generator.stages_per_rank.value_or(4);
    const int most_slices = key.name == "seq-1f1b" ? 4 : 1;
    std::ostringstream all;
    for (int v = 1; v <= most_stages; ++v)
        for (int m = 1; m <= 16; ++m)
            for (int k = 1; k <= most_slices; ++k)
                all << v << ' ' << m << ' ' << k << '\n' << order_text(key, {ranks, v, m, k});
    return sha256(all.str());
}

TEST(GeneratorOrder, IsThePublishedOneForEveryShape) {
    std::istringstream lines(golden("order_digests.txt"));
    std::string line;
    int compared = 0;
    while (std::getline(lines, line)) {
        if (line.front() == '#') continue;
        std::istringstream words(line);
        std::string key, expected;
        int ranks = 0;
        words >> key >> ranks >> expected;
        EXPECT_EQ(digest(key, ranks), expected) << key << " on " << ranks << " ranks";
        ++compared;
    }
    EXPECT_EQ(compared, 14 * 8);
}

/// The picture in a generator's header comment: lines of the form "///   rank 0  0F0 0F1 ...",
/// each followed by any number of lines indented to where its first cell stands.
struct Picture {
    std::string name;
    std::string text;
    PipelineShape shape;
};

Picture picture_of(const std::string& source) {
    static const std::regex rank_line(R"(^///   (?:rank \d+|      )  (\d.*|\(.*)$)");
    static const std::regex generator_name(R"re((?:empty|to)_schedule\("([^"]+)")re");
    static const std::regex compute(R"((\d+)[FBIW](\d+)(?:\.(\d+))?)");
    Picture picture;
    std::smatch match;
    if (std::regex_search(source, match, generator_name)) picture.name = match[1];

    int stages = 0;
    int ranks = 0;
    std::istringstream lines(source);
    for (std::string line; std::getline(lines, line);) {
        if (!std::regex_match(line, match, rank_line)) continue;
        const std::string row = match[1];
        const bool first = line.find("rank") != std::string::npos;
        if (!picture.text.empty()) picture.text += first ? '\n' : ' ';
        picture.text += row;
        ranks += first;
        for (std::sregex_iterator cell(row.begin(), row.end(), compute), end; cell != end; ++cell) {
            stages = std::max(stages, std::stoi((*cell)[1]) + 1);
            auto& [p, v, m, k] = picture.shape;
            m = std::max(m, std::stoi((*cell)[2]) + 1);
            if ((*cell)[3].matched) k = std::max(k, std::stoi((*cell)[3]) + 1);
        }
    }
    if (ranks == 0) return picture;
    picture.text += '\n';
    picture.shape.ranks = ranks;
    picture.shape.stages_per_rank = stages / ranks;
    return picture;
}

TEST(GeneratorPicture, IsWhatTheGeneratorWrites) {
    std::map<std::string, Picture> pictures;
    for (const auto& entry :
         std::filesystem::directory_iterator(source_folder() / "schedule/generators")) {
        if (entry.path().extension() != ".cpp") continue;
        Picture picture = picture_of(read_file(entry.path().string()));
        if (!picture.name.empty()) pictures[picture.name] = std::move(picture);
    }
    for (const char* name :
         {"gpipe", "1f1b", "eager-1f1b", "interleaved-1f1b", "looped-bfs", "group-interleaved",
          "zb-h1", "zb-h2", "interleaved-zb", "seq-1f1b", "zb-auto", "zb-v", "v-half", "v-min",
          "1f1b-v", "dualpipe", "dualpipe-v"})
        EXPECT_FALSE(pictures[name].text.empty()) << name << " has no picture";
    for (const auto& [name, picture] : pictures)
        if (!picture.text.empty()) {
            EXPECT_EQ(to_text(generate(name, picture.shape)), picture.text) << name;
        }
}

}  // namespace
}  // namespace debubble
