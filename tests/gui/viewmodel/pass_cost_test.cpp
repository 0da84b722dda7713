#include "gui/viewmodel/what_if/pass_cost.h"

#include <set>

#include <gmock/gmock.h>

#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"

namespace debubble::gui {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct Case {
    std::string scenario;
    std::vector<scenarios::Override> set;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all{{"gpt2-xl", {}},
                                       {"gpt2-xl-zb-h1", {}},
                                       {"gpt3-175b", {}},
                                       {"gpt2-xl-dualpipe", {}},
                                       {"gpt2-xl", {{"training.recompute", "none"}}},
                                       {"gpt3-175b", {{"schedule", "seq-1f1b"}}}};
    return all;
}

Duration sum_of(const PassCost& cost) {
    Duration sum{};
    for (const CostPart& part : cost.parts) sum += part.takes;
    return sum;
}

/// One of each stage, pass and slice.
std::vector<Span> distinct_passes(const Trace& trace) {
    std::vector<Span> spans;
    std::set<std::tuple<Pass, Stage, int>> seen;
    for (const Span& span : trace.spans) {
        const auto* c = std::get_if<Compute>(&span.action);
        if (c != nullptr &&
            seen.emplace(c->pass, c->stage, c->micro_batch.slice.value_or(0)).second)
            spans.push_back(span);
    }
    return spans;
}

TEST(PassCost, IsTheSumOfItsOperatorsAndWhatTheSimulatorTakes) {
    for (const Case& c : cases()) {
        const sim::PredictionWithTrace predicted =
            sim::predict(scenarios::read_scenario(c.scenario, c.set));
        const scenarios::Scenario& scenario = predicted.played;
        const Trace& trace = predicted.trace;
        const std::vector<Span> passes = distinct_passes(trace);
        ASSERT_FALSE(passes.empty()) << c.scenario;
        for (const Span& span : passes) {
            const PassCost cost = pass_cost(scenario, trace.program, span.action);
            EXPECT_EQ(cost.takes, span.length()) << c.scenario << ' ' << to_text(span.action);
            EXPECT_NEAR(static_cast<double>(sum_of(cost).count()),
                        static_cast<double>(cost.takes.count()), 200)  // a kernel's rounding is 0.5
                << c.scenario << ' ' << to_text(span.action);
            EXPECT_GT(cost.parts.size(), 3U);
        }
    }
}

TEST(PassCost, NamesOperatorsWithTheirFormulasAndNumbers) {
    // The tutorial's GPT-3: hidden size 12288, so the first GEMM of the MLP is 12288 x 49152
    // over eight GPUs.
    const scenarios::Scenario scenario = scenarios::read_scenario("gpt3-175b");
    const Trace trace = sim::predict(scenario).trace;
    const PassCost cost =
        pass_cost(scenario, trace.program, Compute{Pass::Forward, Stage{1}, {0, {}}});
    const auto fc = std::ranges::find(cost.parts, "mlp.fc1", &CostPart::name);
    ASSERT_NE(fc, cost.parts.end());
    EXPECT_EQ(fc->times, 96 / scenario.parallel.pipeline / scenario.parallel.stages_per_rank);
    EXPECT_EQ(fc->formula.front().value,
              "2 \u00d7 2048 \u00d7 6144 \u00d7 12288 = 309.2 GFLOP");  // 2 s (4 h / t) h
}

TEST(CostInWords, HasAPartPerOperatorWhichOpensToItsFormula) {
    const scenarios::Scenario scenario = scenarios::read_scenario("gpt2-xl");
    const Trace trace = sim::predict(scenario).trace;
    const auto details = details_of_cost(scenario, trace.program,
                                         Compute{Pass::Forward, Stage{0}, {0, {}}}, Rank{0});
    ASSERT_EQ(details.size(), 1U);
    EXPECT_EQ(details[0].name, "cost");
    ASSERT_GT(details[0].parts.size(), 5U);
    for (const Detail& part : details[0].parts) {
        EXPECT_THAT(part.value, HasSubstr("%"));
        EXPECT_THAT(part.parts, Contains(testing::Field(&Detail::name, "formula"))) << part.name;
    }
}

TEST(CostInWords, OfAMessageIsLatencyAndBandwidth) {
    const scenarios::Scenario scenario = scenarios::read_scenario("gpt3-175b");
    const Trace trace = sim::predict(scenario).trace;
    for (const Span& span : trace.spans) {
        if (!std::holds_alternative<Send>(span.action)) continue;
        const auto details = details_of_cost(scenario, trace.program, span.action, span.rank);
        ASSERT_EQ(details.size(), 1U);
        EXPECT_THAT(details[0].value, HasSubstr("GB/s"));
        return;
    }
    FAIL() << "no message";
}

TEST(CostInWords, IsEmptyForATraceThatDoesNotKnowItsProgram) {
    EXPECT_TRUE(details_of_cost(scenarios::read_scenario("gpt2-xl"), {},
                                Compute{Pass::Forward, Stage{0}, {0, {}}}, Rank{0})
                    .empty());
}

}  // namespace
}  // namespace debubble::gui
