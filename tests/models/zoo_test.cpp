#include <cmath>

#include <gtest/gtest.h>

#include "models/architecture_reader.h"
#include "models/graph.h"

namespace debubble::models {
namespace {

struct Published {
    const char* name;
    std::int64_t parameters;
};

/// Counts of the published checkpoints (sum of numel), except llama-tutorial and the
/// two of the article, which are counted by their authors or by hand.
constexpr Published kPublished[] = {
    {"gpt2", 124'439'808},
    {"gpt2-medium", 354'823'168},
    {"gpt2-large", 774'030'080},
    {"gpt2-xl", 1'557'611'200},
    {"gpt2-xl-colossal", 1'557'686'400},
    {"llama-7b", 6'738'415'616},
    {"llama2-7b", 6'738'415'616},
    {"llama2-13b", 13'015'864'320},
    {"llama2-70b", 68'976'648'192},
    {"llama3-8b", 8'030'261'248},
    {"llama3-70b", 70'553'706'496},
    {"llama3-405b", 405'853'388'800},
    {"llama-tutorial", 179'448'576},
    {"llama-246m", 245'566'464},
    {"llama-7.26b", 7'257'206'784},
    {"vit-base", 86'567'656},
    {"vit-large", 304'326'632},
    {"vit-huge", 632'045'800},
};

TEST(Zoo, HasThePublishedParameterCounts) {
    for (const Published& model : kPublished)
        EXPECT_EQ(parameter_count(read_model(model.name)), model.parameters) << model.name;
}

double count(const char* name) {
    return static_cast<double>(parameter_count(read_model(name)));
}

/// Billions as printed: table 1 of arXiv:2104.04473 and table 3 of arXiv:2205.05198.
TEST(Zoo, RoundsToTheSizesOfTheMegatronPapers) {
    const std::pair<const char*, double> printed[] = {
        {"gpt-1.7b", 1.7},      {"gpt-3.6b", 3.6},   {"gpt-7.5b", 7.5},     {"gpt-18.4b", 18.4},
        {"gpt-39.1b", 39.1},    {"gpt-76.1b", 76.1}, {"gpt-145.6b", 145.6}, {"gpt-310.1b", 310.1},
        {"mt-nlg-530b", 529.6}, {"gpt-1t", 1008.0},
    };
    for (const auto& [name, billions] : printed)
        EXPECT_EQ(std::round(count(name) / 1e8) / 10, billions) << name;
    EXPECT_EQ(std::round(count("gpt3-175b") / 1e9), 175);
    EXPECT_EQ(std::round(count("gpt-22b") / 1e9), 22);
}

TEST(Zoo, EveryFileReadsAndCarriesItsNameAndSource) {
    const auto names = zoo();
    EXPECT_GE(names.size(), 30u);
    for (const std::string& name : names) {
        const Architecture model = read_model(name);
        EXPECT_EQ(model.name, name);
        EXPECT_FALSE(model.source.empty()) << name;
    }
}

}  // namespace
}  // namespace debubble::models
