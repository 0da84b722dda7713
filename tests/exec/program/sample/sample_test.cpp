#include <algorithm>
#include <cmath>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/program/sample/continue_text.h"
#include "models/graph/graph.h"
#include "tests/exec/support/families.h"
#include "tests/exec/support/goldens.h"
#include "tests/exec/support/tensors.h"
#include "tests/exec/support/transformer.h"
#include "tests/exec/support/whole_network.h"
#include "tests/support/source_folder.h"

/// Texts that trained networks go on with, against transformers.
namespace debubble::exec {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Tokens = std::vector<std::int32_t>;

SavedNetwork golden_network_of(const std::string& name) {
    return open_saved_network(golden_network_folder(name));
}

Tokens continuation(LanguageModel& model, Tokens text, const Continuation& how) {
    Tokens told;
    continue_text(model, std::move(text), how, [&](std::int32_t token) { told.push_back(token); });
    return told;
}

Continuation greedy(std::int64_t tokens) {
    Continuation how;
    how.tokens = tokens;
    how.sampling.temperature = 0;
    return how;
}

struct Case {
    std::string network;
    std::string kernels;
};

class Sample : public testing::TestWithParam<Case> {
protected:
    std::unique_ptr<Kernels> kernels_ = make_cpu_kernels(GetParam().kernels, 1);
    SavedNetwork network_ = golden_network_of(GetParam().network);
    LanguageModel model_{network_, *kernels_};
};

TEST_P(Sample, GreedilyItGoesOnAsTransformersDoes) {
    const Goldens golden("hugging_face/" + GetParam().network + "/generated");
    const View<std::int32_t> texts = golden["texts"].as<std::int32_t>();
    constexpr int kPrompt = 3;  // as in make_generated.py
    ASSERT_GT(texts.rows(), 0);
    for (std::int64_t i = 0; i < texts.rows(); ++i) {
        const Tokens text(texts.row(i), texts.row(i) + texts.columns());
        const Tokens prompt(text.begin(), text.begin() + kPrompt);
        EXPECT_EQ(continuation(model_, prompt, greedy(texts.columns() - kPrompt)),
                  Tokens(text.begin() + kPrompt, text.end()));
    }
}

TEST_P(Sample, ASeedSaysWhatFollows) {
    Continuation how;
    how.tokens = 40;
    how.sampling.temperature = 3;
    how.sampling.seed = 7;
    const Tokens first = continuation(model_, {1, 2}, how);
    EXPECT_EQ(first.size(), 40u);
    EXPECT_EQ(continuation(model_, {1, 2}, how), first);
    how.sampling.seed = 8;
    EXPECT_NE(continuation(model_, {1, 2}, how), first);
}

TEST_P(Sample, OneCandidateIsGreedy) {
    Continuation one;
    one.tokens = 20;
    one.sampling.top_k = 1;
    EXPECT_EQ(continuation(model_, {5}, one), continuation(model_, {5}, greedy(20)));
    one.sampling = {.temperature = 1, .top_k = 0, .top_p = 1e-9, .seed = 3};
    EXPECT_EQ(continuation(model_, {5}, one), continuation(model_, {5}, greedy(20)));
}

std::vector<float> logits_of(LanguageModel& model, const Tokens& text) {
    const std::span<const float> found = model.logits(text);
    return {found.begin(), found.end()};
}

void expect_near(const std::vector<float>& mine, const std::vector<float>& expected) {
    ASSERT_EQ(mine.size(), expected.size());
    for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_NEAR(mine[i], expected[i], 1e-5) << i;
}

TEST_P(Sample, EveryTokensLogitsAreThoseOfTransformers) {
    const Goldens golden("hugging_face/" + GetParam().network + "/expected");
    const View<std::int32_t> texts = golden["inputs"].as<std::int32_t>();
    const Tensor& logits = golden["logits"];
    const double largest = largest_magnitude<float>(logits.as<float>());
    const float* expected = logits.as<float>().data;
    for (std::int64_t i = 0; i < texts.rows(); ++i) {
        Tokens text;
        for (std::int64_t t = 0; t < texts.columns(); ++t) {
            text.push_back(texts.row(i)[t]);
            for (const float found : model_.logits(text))
                ASSERT_NEAR(found, *expected++, 1e-5 * largest) << "text " << i << ", token " << t;
        }
    }
}

TEST_P(Sample, BeyondItsWindowItSeesTheLastTokens) {
    const auto window = static_cast<std::int32_t>(network_.architecture.max_positions);
    Tokens text;
    for (std::int32_t i = 0; i < window + 11; ++i) text.push_back(i * 7 % 29);
    EXPECT_EQ(model_.window(), window);
    const std::vector<float> seen = logits_of(model_, text);
    expect_near(seen, logits_of(model_, Tokens(text.end() - window, text.end())));
    // Where all layers have windows, no token sees the first of the text.
    if (network_.architecture.layers.kinds().size() > 1 ||
        !network_.architecture.layers.first<models::Attention>()->window) {
        EXPECT_NE(seen, logits_of(model_, Tokens(text.end() - window + 1, text.end())));
    }
}

/// A network that has read nothing yet says what the one with kept keys and values says.
TEST_P(Sample, WhatItHasReadChangesNothing) {
    const auto anew = [&](const Tokens& text) {
        LanguageModel fresh(network_, *kernels_);
        return logits_of(fresh, text);
    };
    Tokens text;
    for (std::int32_t i = 0; i < model_.window() + 4; ++i) {
        text.push_back(i * 11 % 29);
        expect_near(logits_of(model_, text), anew(text));
    }
    for (const Tokens& other : {Tokens{3, 1, 4, 1, 5}, Tokens{3, 1, 4, 2}, Tokens{3, 1, 4, 2, 7, 7},
                                Tokens{3, 1}, Tokens{3, 1}, Tokens{9}, Tokens{3, 1, 4}})
        expect_near(logits_of(model_, other), anew(other));
}

TEST_P(Sample, EndsAtTheEndOfText) {
    const Tokens all = continuation(model_, {1, 2}, greedy(6));
    Continuation how = greedy(6);
    how.end_of_text = all[3];
    const Tokens until = continuation(model_, {1, 2}, how);
    EXPECT_LE(until.size(), 3u);
    EXPECT_EQ(until, Tokens(all.begin(), all.begin() + std::ssize(until)));
    EXPECT_THAT(until, testing::Not(testing::Contains(all[3])));
}

TEST_P(Sample, TakesNoEntryThatTheTokenizerDoesNotHave) {
    Continuation how;
    how.tokens = 60;
    how.sampling.temperature = 10;
    how.entries = 4;
    EXPECT_THAT(continuation(model_, {1}, how), Each(testing::Lt(4)));
}

std::vector<Case> cases() {
    std::vector<std::string> networks = {"gpt2", "llama", "llama_tied", "mixtral"};
    std::ranges::copy(golden_networks(), std::back_inserter(networks));
    std::vector<Case> all;
    for (const std::string& network : networks)
        for (const char* kernels : {"fixed-order", "auto"}) all.push_back({network, kernels});
    return all;
}

INSTANTIATE_TEST_SUITE_P(Networks, Sample, testing::ValuesIn(cases()), [](const auto& each) {
    return each.param.network + (each.param.kernels == "auto" ? "_auto" : "_fixed_order");
});

/// The logits after the last token, from the network that knows no stages.
std::vector<float> expected_logits(const SavedNetwork& network, const Tokens& text) {
    Transformer transformer(network.architecture,
                            named_weights(network.architecture, network.weights));
    const Shape shape{1, std::ssize(text)};
    const Tensor tokens(shape, DataType::Int32), targets(shape, DataType::Int32);
    std::ranges::copy(text, tokens.as<std::int32_t>().begin());
    transformer.forward(tokens, targets, 1);
    const View<float> all = transformer.logits.as<float>();
    const std::int64_t vocab = network.architecture.vocab;
    return {all.end() - vocab, all.end()};
}

TEST(SampleLengths, WhatFillsUpATextDoesNotShow) {
    SavedNetwork network = golden_network_of("llama");
    network.architecture.max_positions = 70;  // rotary: there are angles for all of them
    const auto kernels = make_cpu_kernels("fixed-order", 1);
    LanguageModel model(network, *kernels);
    Tokens text;
    for (std::int32_t i = 0; i < 70; ++i) text.push_back((i * i + 3 * i) % 29);
    for (const std::size_t length : {1, 31, 32, 33, 64, 65, 70}) {
        const Tokens begin(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
        const std::vector<float> expected = expected_logits(network, begin);
        const std::span<const float> found = model.logits(begin);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_NEAR(found[i], expected[i], 1e-4) << "length " << length;
    }
}

TEST(SampleLengths, NoLongerThanTheTrainingsSequences) {
    SavedNetwork network = golden_network_of("gpt2");
    network.trained_length = 4;
    const auto kernels = make_cpu_kernels("fixed-order", 1);
    EXPECT_EQ(LanguageModel(network, *kernels).window(), 4);
}

TEST(ChooseToken, FollowsTheProbabilities) {
    // exp: 1, 2, 4, 1; of 8.
    const std::vector<float> logits{0, std::log(2.0F), std::log(4.0F), 0};
    const auto shares = [&](const Sampling& how) {
        std::vector<double> found(4);
        constexpr int kDraws = 8000;
        for (int i = 0; i < kDraws; ++i)
            found[static_cast<std::size_t>(choose_token(logits, how, (i + 0.5) / kDraws))] +=
                1.0 / kDraws;
        return found;
    };
    const auto are = [](double a, double b, double c, double d) {
        const auto near = [](double x) { return testing::DoubleNear(x, 1e-3); };
        return ElementsAre(near(a), near(b), near(c), near(d));
    };
    EXPECT_THAT(shares({}), are(1 / 8., 2 / 8., 4 / 8., 1 / 8.));
    EXPECT_THAT(shares({.temperature = 0.5}), are(1 / 22., 4 / 22., 16 / 22., 1 / 22.));
    EXPECT_THAT(shares({.top_k = 2}), are(0, 1 / 3., 2 / 3., 0));
    EXPECT_THAT(shares({.top_k = 3}), are(1 / 7., 2 / 7., 4 / 7., 0));
    EXPECT_THAT(shares({.top_p = 0.7}), are(0, 1 / 3., 2 / 3., 0));
    EXPECT_THAT(shares({.top_p = 0.4}), are(0, 0, 1, 0));
    EXPECT_THAT(shares({.top_k = 100}), are(1 / 8., 2 / 8., 4 / 8., 1 / 8.));
}

TEST(ChooseToken, DrawsEvenly) {
    double mean = 0, square = 0;
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i) {
        const double u = uniform_of(5, i);
        ASSERT_GE(u, 0);
        ASSERT_LT(u, 1);
        mean += u / kDraws;
        square += u * u / kDraws;
    }
    EXPECT_NEAR(mean, 1 / 2., 0.01);
    EXPECT_NEAR(square, 1 / 3., 0.01);
}

std::string mistake_of(const auto& call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(SampleMistakes, AreToldInASentence) {
    const auto kernels = make_cpu_kernels("fixed-order", 1);
    const SavedNetwork vit = golden_network_of("vit");
    EXPECT_THAT(mistake_of([&] { LanguageModel(vit, *kernels); }),
                HasSubstr("is a Vision Transformer, which classifies images"));
    const SavedNetwork gpt = golden_network_of("gpt2");
    EXPECT_THAT(mistake_of([&] { prompt_tokens("Once", tokenizer_of(gpt, ""), 29); }),
                HasSubstr("the byte tokenizer makes token 79 of the prompt's 'O', but the "
                          "network's vocabulary ends at 28"));
    EXPECT_THAT(mistake_of([&] { prompt_tokens("", tokenizer_of(gpt, ""), 29); }),
                HasSubstr("the prompt is empty"));
    const std::vector<float> broken{0, std::nanf("")};
    EXPECT_THAT(mistake_of([&] { choose_token(broken, {}, 0.5); }),
                HasSubstr("not finite numbers"));
    SavedNetwork tokens = gpt;
    tokens.settings["data.tokens"] = "corpus.bin";
    EXPECT_THAT(
        mistake_of([&] { tokenizer_of(tokens, ""); }),
        HasSubstr("was trained on corpus.bin, and the tokenizer of those tokens is not known"));
    EXPECT_EQ(tokenizer_of(tokens, "bytes").tokenizer->vocab(), 257);
    const std::string trained = (source_folder() / "no_such.json").string();
    tokens.settings["data.tokenizer"] = trained;
    EXPECT_THAT(mistake_of([&] { tokenizer_of(tokens, ""); }), HasSubstr("no_such.json"));
}

}  // namespace
}  // namespace debubble::exec
