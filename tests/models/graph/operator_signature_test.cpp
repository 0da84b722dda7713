#include "models/graph/operator_runs.h"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/architectures.h"

namespace debubble::models {
namespace {

using testing::HasSubstr;

Execution fused() {
    Execution how;
    how.seq_length = 64;
    how.kernels.loss = LossKernel::TransformerEngine;
    how.kernels.vocabulary_multiple = 1;
    return how;
}

const Operator& named(const StageGraph& graph, std::string_view name) {
    for (const Operator& op : graph.operators)
        if (op.name == name) return op;
    throw std::out_of_range(std::string(name));
}

std::string signature(const Architecture& model, const Execution& how, std::string_view name) {
    const StageGraph graph = build_stage(model, how, {0, model.layers.count(), true, true});
    return signature_of(graph, named(graph, name));
}

std::string core_of(const Architecture& model, const Execution& how) {
    const StageGraph graph = build_stage(model, how, {0, model.layers.count(), true, true});
    const auto core = std::ranges::find_if(
        graph.operators, [](const Operator& op) { return op.as<op::Attention>(); });
    return signature_of(graph, *core);
}

/// Signatures of a stage, with how often each occurs. A norm that adds to a gradient made
/// elsewhere, across the stage's edge or for the weight's pass, copies it first; here both count
/// as one.
std::map<std::string, int> signatures(const Architecture& model, const Execution& how,
                                      const StageContent& content) {
    std::map<std::string, int> counts;
    const StageGraph graph = build_stage(model, how, content);
    for (const Operator& op : graph.operators) {
        std::string text = signature_of(graph, op);
        if (const auto at = text.find("_copy"); at != std::string::npos) text.erase(at, 5);
        ++counts[text];
    }
    return counts;
}

TEST(OperatorSignature, SaysKindTypesAndExtents) {
    EXPECT_EQ(signature(gpt(2, 256, 8), fused(), "h.0.mlp.c_fc"),
              "linear bf16/fp32 gemm 1x64x1024x256 parameters 256x1024+1024");
    EXPECT_THAT(core_of(gpt(2, 256, 8), fused()),
                testing::StartsWith("attention bf16/fp32 attention 1x8/8x64x64x32 causal"));
}

/// One measurement serves for all layers, wherever the stage cuts lie.
TEST(OperatorSignature, IsTheSameInEveryLayerAndStage) {
    for (const Architecture& model : {gpt(8, 256, 8), llama(8, 256, 8, 4, 512, 1000)}) {
        const auto layer = signatures(model, fused(), {0, 1, false, false});
        const auto inner = signatures(model, fused(), {3, 2, false, false});
        ASSERT_EQ(inner.size(), layer.size()) << model.name;
        for (const auto& [text, count] : layer) EXPECT_EQ(inner.at(text), 2 * count) << text;
        auto sum = signatures(model, fused(), {0, 3, true, false});
        for (const auto& [text, count] : signatures(model, fused(), {3, 5, false, true}))
            sum[text] += count;
        EXPECT_EQ(sum, signatures(model, fused(), {0, 8, true, true})) << model.name;
    }
}

TEST(OperatorSignature, DoesNotDependOnHowTheBackwardIsParted) {
    Execution split = fused();
    split.split_backward = true;
    const StageContent all{0, 4, true, true};
    EXPECT_EQ(signatures(gpt(4, 256, 8), fused(), all), signatures(gpt(4, 256, 8), split, all));
}

/// Whatever changes what the processor does must change the text.
TEST(OperatorSignature, TellsApartWhatRunsDifferently) {
    const Architecture model = gpt(2, 256, 8);
    std::set<std::string> linears{signature(model, fused(), "h.0.mlp.c_fc")};
    std::set<std::string> cores{core_of(model, fused())};
    int variants = 1;
    const auto vary = [&](const Architecture& m, auto change) {
        Execution how = fused();
        change(how);
        linears.insert(signature(m, how, "h.0.mlp.c_fc"));
        cores.insert(core_of(m, how));
        ++variants;
    };
    vary(model, [](Execution& how) { how.compute = DataType::Fp32; });
    vary(model, [](Execution& how) { how.gradients = DataType::Bf16; });
    vary(model, [](Execution& how) { how.seq_length = 128; });
    vary(model, [](Execution& how) { how.micro_batch = 3; });
    vary(model, [](Execution& how) { how.tensor = 2; });
    vary(gpt(2, 512, 16), [](Execution&) {});
    EXPECT_EQ(static_cast<int>(linears.size()), variants);
    EXPECT_EQ(static_cast<int>(cores.size()), variants);

    const auto residuals = [&](bool dropout) {
        Execution how = fused();
        how.hidden_dropout = dropout;
        how.kernels.replayed_dropout = true;
        return signatures(model, how, {0, 2, false, false});
    };
    EXPECT_NE(residuals(true), residuals(false));

    // A product of the same extents whose weight lies the other way round.
    Architecture other = llama(2, 256, 8, 8, 1024, 1000);
    change_layers(other, [](LayerKeys& keys) {
        keys.activation = Activation::Gelu;
        keys.linear_bias = true;
    });
    const StageGraph transposed = build_stage(other, fused(), {0, 2, true, true});
    for (const Operator& op : transposed.operators)
        if (op.as<op::Linear>()) {
            EXPECT_FALSE(linears.contains(signature_of(transposed, op))) << op.name;
        }
}

/// Kernels on the tensor cores compute plain scores; other attention goes to slower ones, though
/// its FLOPs and bytes are the same.
TEST(OperatorSignature, TellsApartAttentionWithOtherScores) {
    std::set<std::string> cores{core_of(gpt(2, 256, 8), fused())};
    const auto with = [&](std::string_view word, auto change) {
        Architecture model = gpt(2, 256, 8);
        change_layers(model, change);
        const std::string core = core_of(model, fused());
        EXPECT_THAT(core, HasSubstr(" " + std::string(word) + " attention 1x8/8x64x64x32"));
        EXPECT_TRUE(cores.insert(core).second) << core;
    };
    with("softcap", [](LayerKeys& keys) { keys.score_softcap = 50; });
    with("alibi", [](LayerKeys& keys) { keys.alibi = true; });
    with("temperature", [](LayerKeys& keys) { keys.temperature = {8192, 0.1}; });
}

TEST(OperatorSignature, IsPlainText) {
    for (const auto& [text, count] :
         signatures(llama(2, 256, 8, 4, 512, 1000), fused(), {0, 2, true, true})) {
        EXPECT_GT(count, 0);
        EXPECT_LT(text.size(), 300u);
        EXPECT_EQ(text.find_first_of("\"\\\n:#"), std::string::npos) << text;
    }
}

TEST(OperatorSignature, CountsExpertsAndSaysHowManyThereAre) {
    Architecture model = llama(2, 64, 4, 4, 96, 1000);
    change_layers(model, [](LayerKeys& keys) {
        keys.experts = 256;
        keys.experts_per_token = 2;
    });
    const StageGraph graph = build_stage(model, fused(), {0, model.layers.count(), true, true});
    std::set<std::string> moved;
    for (const Operator& op : graph.operators) {
        const std::string text = signature_of(graph, op);
        EXPECT_LT(text.size(), 300u);
        const bool moves = op.as<op::Permute>() || op.as<op::Dispatch>();
        if (moves || op.as<op::Router>() || op.as<op::Combine>()) {
            EXPECT_THAT(text, HasSubstr(" 2 of 256"));
        }
        if (moves) moved.insert(text);
        if (op.as<op::ExpertProducts>()) {
            EXPECT_THAT(
                text, testing::AnyOf(HasSubstr(" parameters 512*"), HasSubstr(" parameters 256*")));
        }
    }
    EXPECT_EQ(moved.size(), 2u) << "what permutes and what only moves";
}

}  // namespace
}  // namespace debubble::models
