#include <cmath>

#include <gtest/gtest.h>

#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"

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

struct Counted {
    const char* name;
    std::int64_t parameters;
    std::int64_t active;  ///< parameters with which a token is computed
};

/// Sums over the tensors of the networks that transformers builds from the published configurations
/// on torch's meta device, which closed forms of each kind of layer give as well. Routers' biases,
/// which are no parameters, and multi-token prediction are left out.
constexpr Counted kCounted[] = {
    // Those with vision towers are counted with them, and text is computed without.
    {"qwen3.5-27b", 27'356'728'560, 26'895'998'464},
    {"qwen3.5-122b-a10b", 122'562'817'776, 9'771'288'576},
    {"qwen3.5-397b-a17b", 396'802'360'816, 17'349'040'896},
    {"qwen3-vl-8b", 8'767'123'696, 8'190'735'360},
    {"qwen3-vl-30b-a3b", 31'070'754'032, 3'353'032'704},
    {"qwen3-vl-235b-a22b", 235'670'022'896, 22'190'763'520},
    {"kimi-k2.5", 1'026'879'353'328, 32'861'477'888},
    {"mimo-v2-flash", 308'778'768'832, 15'445'924'288},
    {"gemma-4-31b", 31'273'086'512, 30'697'345'280},
    {"deepseek-v3.2", 671'877'929'216, 38'403'807'488},
    {"glm-5", 743'911'199'232, 41'784'709'632},
    {"glm-5.2", 743'377'000'704, 41'250'511'104},
    {"deepseek-v4-flash", 284'332'230'231, 13'799'622'231},
    {"nemotron-super-49b", 49'867'145'216, 49'867'145'216},
    {"kimi-linear-48b-a3b", 49'122'675'072, 3'484'453'248},
    {"olmo-3-32b", 32'233'522'176, 32'233'522'176},
    {"seed-oss-36b", 36'151'104'512, 36'151'104'512},
    {"llama3.1-8b", 8'030'261'248, 8'030'261'248},
    {"llama3.1-70b", 70'553'706'496, 70'553'706'496},
    {"llama3.1-405b", 405'853'388'800, 405'853'388'800},
    {"llama3.2-1b", 1'235'814'400, 1'235'814'400},
    {"mistral-7b", 7'241'732'096, 7'241'732'096},
    {"qwen2.5-7b", 7'615'616'512, 7'615'616'512},
    {"qwen3-8b", 8'190'735'360, 8'190'735'360},
    {"qwen3-32b", 32'762'123'264, 32'762'123'264},
    {"qwen3-30b-a3b", 30'532'122'624, 3'353'032'704},
    {"qwen3-235b-a22b", 235'093'634'560, 22'190'763'520},
    {"qwen3-next-80b-a3b", 79'674'391'296, 3'874'929'408},
    {"nemotron-h-8b", 8'100'852'736, 8'100'852'736},
    {"nemotron-h-56b", 56'324'350'464, 56'324'350'464},
    {"nemotron-3-nano-30b-a3b", 31'577'937'344, 3'580'073'408},
    {"nemotron-3-super", 126'553'336'832, 13'259'942'912},  // with two depths of 2,942,324,736
    {"deepseek-v2-lite", 15'706'484'224, 2'661'150'208},
    {"moonlight-16b-a3b", 15'960'108'544, 2'914'774'528},
    {"deepseek-v3", 671'026'404'352, 37'552'282'624},
    {"kimi-k2", 1'026'408'209'408, 32'861'477'888},
    {"gpt-oss-20b", 20'914'757'184, 4'187'440'704},
    {"gpt-oss-120b", 116'829'156'672, 5'711'982'912},
    {"grok-1", 315'684'820'992, 83'756'587'008},
    {"llama4-scout", 107'769'861'120, 17'172'894'720},
    {"llama4-maverick", 400'711'848'960, 17'184'691'200},
    {"gemma-2-9b", 9'241'705'984, 9'241'705'984},
    {"gemma-3-27b", 27'009'346'304, 27'009'346'304},
    {"glm-4.5-air", 106'852'245'504, 13'424'123'904},
    {"nemotron4-15b", 15'628'775'424, 15'628'775'424},
    {"nemotron4-340b", 341'029'195'776, 341'029'195'776},
    {"mpt-7b", 6'658'859'008, 6'658'859'008},
    {"mpt-30b", 29'975'214'080, 29'975'214'080},
    {"mpt-70b", 64'862'437'376, 64'862'437'376},
    {"mixtral-8x7b", 46'702'792'704, 12'879'925'248},
    {"mixtral-8x22b", 140'620'634'112, 39'152'031'744},
    {"jamba-1.5-mini", 51'570'323'328, 12'110'311'296},
    {"jamba-1.5-large", 398'555'145'696, 94'149'338'592},
    {"minimax-text-01", 456'089'655'296, 48'403'306'496},
};

/// Sums over the tensors of modules of multi-token prediction, whose embedding and head are shared:
/// DeepSeek-V3's README_WEIGHTS.md says 11.5 B.
TEST(Zoo, CountsMultiTokenPredictionWhereItIsAskedFor) {
    const std::pair<const char*, std::int64_t> modules[] = {{"deepseek-v3", 11'610'067'968},
                                                            {"glm-4.5-air", 2'375'059'456},
                                                            {"qwen3-next-80b-a3b", 1'650'471'424}};
    for (const auto& [name, parameters] : modules) {
        Architecture network = read_model(name);
        const std::int64_t without = parameter_count(network);
        const std::int64_t active = active_parameter_count(network);
        network.mtp_layers = 1;
        EXPECT_EQ(parameter_count(network) - without, parameters) << name;
        std::int64_t listed = 0;
        for (const Parameter& parameter : whole_parameters(network)) listed += parameter.elements();
        EXPECT_EQ(listed, without + parameters) << name;
        const auto& experts = std::get<Experts>(network.layer_at(network.layers.count()).mlp);
        EXPECT_EQ(
            active_parameter_count(network) - active,
            parameters - (experts.count - experts.per_token) * 3 * network.hidden * experts.ffn)
            << name;
        network.mtp_layers = 2;
        EXPECT_EQ(parameter_count(network) - without, 2 * parameters) << name;
    }
}

/// Nemotron 3 Super's depths have attention and experts (Megatron-Bridge's
/// mtp_hybrid_override_pattern
/// "*E"), though no layer of its own has both: without them it has the published count.
TEST(Zoo, CountsDepthsOfAHybridAsAttentionAndExperts) {
    Architecture network = read_model("nemotron-3-super");
    EXPECT_EQ(network.mtp_layers, 2);
    const std::int64_t h = 4096, latent = 1024, f = 2688;
    const std::int64_t attention = h * (h + 2 * 2 * 128) + h * h;
    const std::int64_t experts = 512 * 2 * latent * f + 2 * h * latent + 2 * h * 2 * f + 512 * h;
    const std::int64_t depth = attention + experts + 2 * h * h + 5 * h;  // a projection, five norms
    const std::int64_t with = parameter_count(network);
    network.mtp_layers = 0;
    EXPECT_EQ(parameter_count(network), 120'668'687'360);
    EXPECT_EQ(with - parameter_count(network), 2 * depth);
    EXPECT_EQ(active_parameter_count(network), 12'770'216'960);
}

/// Closed forms: OLMo 2's attention 4 h^2 and two norms of queries and keys of h, MLP 3 h f, two
/// norms; GPT-NeoX' 12 h^2 + 13 h with all biases; tables in and out, and a last norm.
TEST(Zoo, CountsByClosedFormsWhatNoSheetCounts) {
    const std::int64_t h = 4096, f = 11008;
    EXPECT_EQ(parameter_count(read_model("olmo2-7b")),
              32 * (4 * h * h + 2 * h + 3 * h * f + 2 * h) + 2 * 100352 * h + h);
    const std::int64_t n = 6144;
    EXPECT_EQ(parameter_count(read_model("gpt-neox-20b")),
              44 * (12 * n * n + 13 * n) + 2 * 50432 * n + 2 * n);
}

TEST(Zoo, CountsTheNetworksOfToday) {
    for (const Counted& model : kCounted) {
        const Architecture network = read_model(model.name);
        EXPECT_EQ(parameter_count(network), model.parameters) << model.name;
        EXPECT_EQ(active_parameter_count(network), model.active) << model.name;
    }
}

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
