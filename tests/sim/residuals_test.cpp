#include "sim/plan/residuals.h"

#include <cmath>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"
#include "sim/report/report.h"

namespace debubble::sim {
namespace {

using testing::HasSubstr;

const Residuals kKnown = parse_residuals(
    R"({"classes": [
  {"gpu": "A", "rows": 90, "low": 0.8, "middle": 1.0, "high": 1.3},
  {"gpu": "A", "framework": "f", "rows": 40, "low": 0.9, "middle": 1.0, "high": 1.1},
  {"gpu": "A", "framework": "f", "precision": "bf16", "rows": 20, "low": 0.92, "middle": 1.0, "high": 1.08},
  {"gpu": "A", "framework": "f", "precision": "bf16", "sharding": "zero-3", "rows": 7, "low": 0.95, "middle": 1.0, "high": 1.05}
], "relatives": {"A-40": "A"}})",
    "residuals.json");

int rows_like(const StepClass& step) {
    const auto found = residuals_of(step, kKnown);
    return found ? found->rows : 0;
}

TEST(Residuals, AreThoseOfTheStepsThatShareMostWithIt) {
    EXPECT_EQ(rows_like({"f", "A", "bf16", "zero-3", {}}), 7);
    EXPECT_EQ(rows_like({"f", "A", "bf16", "pipeline", {}}), 20);
    EXPECT_EQ(rows_like({"f", "A", "mxfp8", "zero-3", {}}), 40);
    EXPECT_EQ(rows_like({"g", "A", "bf16", "zero-3", {}}), 90);
    EXPECT_EQ(rows_like({"f", "B", "bf16", "zero-3", {}}), 0);
}

TEST(Residuals, OfARelativeAreHalfAsWideAgain) {
    const auto own = residuals_of({"f", "A", "bf16", "zero-3", {}}, kKnown);
    const auto relative = residuals_of({"f", "A-40", "bf16", "zero-3", {}}, kKnown);
    ASSERT_TRUE(own && relative);
    EXPECT_FALSE(own->of_relative);
    EXPECT_TRUE(relative->of_relative);
    EXPECT_NEAR(std::log(relative->high), 1.5 * std::log(own->high), 1e-12);
    EXPECT_NEAR(std::log(relative->low), 1.5 * std::log(own->low), 1e-12);
}

TEST(Residuals, OfLongSequencesAreApartFromOthers) {
    const auto length = [](const std::string& training) {
        return class_of(
                   scenarios::parse_scenario(
                       "{model: llama3-8b, cluster: hgx-h100, nodes: 1, parallel: {tensor: 1}, "
                       "training: {global_batch: 64, " +
                           training + "}}",
                       "plan.yaml"))
            .length;
    };
    EXPECT_EQ(length("seq_length: 8192"), "short");
    EXPECT_EQ(length("seq_length: 16384"), "long");
}

TEST(Residuals, OfABadFileAreLocatedMistakes) {
    const auto mistakes_of = [](const std::string& text) -> std::string {
        try {
            parse_residuals(text, "residuals.json");
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(mistakes_of(R"({"classes": {}})"), HasSubstr("'classes' is a list"));
    EXPECT_THAT(mistakes_of("{}"), HasSubstr("classes"));
    EXPECT_THAT(
        mistakes_of(R"({"classes": [{"gpu": "A", "rows": 0, "low": 1, "middle": 1, "high": 1}]})"),
        HasSubstr("residuals.json:1:"));
    EXPECT_THAT(
        mistakes_of(R"({"classes": [{"gpu": "A", "rows": 1, "low": 2, "middle": 1, "high": 3}]})"),
        HasSubstr("must not fall"));
    EXPECT_THAT(
        mistakes_of(
            R"({"classes": [{"gpu": "A", "rows": 1, "low": 1, "middle": 1, "high": 1, "mean": 1}]})"),
        HasSubstr("unknown key 'mean'"));
}

TEST(Residuals, ClassAPlanByTheFirstOfItsSharding) {
    const auto sharding = [](const std::string& plan) {
        return class_of(scenarios::parse_scenario(plan, "plan.yaml")).sharding;
    };
    const std::string job =
        "{model: gpt2-xl, cluster: dgx-a100-80gb, nodes: 1, training: {seq_length: "
        "1024, global_batch: 64}, parallel: ";
    EXPECT_EQ(sharding(job + "{}}"), "data");
    EXPECT_EQ(sharding(job + "{zero_stage: 1}}"), "data");
    EXPECT_EQ(sharding(job + "{zero_stage: 3}}"), "zero-3");
    EXPECT_EQ(sharding(job + "{pipeline: 2, zero_stage: 3}}"), "zero-3");
    EXPECT_EQ(sharding(job + "{pipeline: 2, tensor: 1}}"), "pipeline");
    EXPECT_EQ(sharding(job + "{tensor: 1, pipeline: 1, context: 2}}"), "tensor");
    EXPECT_EQ(sharding("{model: mixtral-8x7b, cluster: hgx-h100, nodes: 8, parallel: {expert: 8, "
                       "expert_tensor: 1, zero_stage: 1}, training: {global_batch: 64}}"),
              "experts");
}

/// Every shipped class is of a GPU that a shipped cluster has, so that a prediction may find it.
TEST(Residuals, ThatAreShippedGiveAPredictionItsRange) {
    const auto scenario = scenarios::read_scenario("gpt3-175b");
    const auto found = residuals_of(scenario);
    ASSERT_TRUE(found) << "no class of " << class_of(scenario).words();
    EXPECT_TRUE(found->steps.covers(class_of(scenario)));
    PredictOptions options;
    options.keep_trace = false;
    options.play_allocator = false;
    const Prediction p = predict(scenario, options).prediction;
    ASSERT_TRUE(p.range);
    EXPECT_DOUBLE_EQ(p.range->low_s, p.step_time_s * found->low);
    EXPECT_DOUBLE_EQ(p.range->high_s, p.step_time_s * found->high);
}

TEST(Residuals, SayWhereTheStepItselfIsOutsideTheirRange) {
    const auto words = [](double step_s) {
        return range_words({0.9, 1.1, kKnown.classes[1]}, step_s);
    };
    EXPECT_EQ(words(1), "0.900 s to 1.100 s, as 80 % of the 40 measured steps most like it (f, A)");
    EXPECT_THAT(words(0.8), HasSubstr("(f, A), which mostly took longer than predicted"));
    EXPECT_THAT(words(1.2), HasSubstr("(f, A), which mostly took less than predicted"));
}

const Residuals kPeaks = parse_residuals(
    R"({"classes": [], "memory": [
  {"network": "dense", "rows": 30, "low": 0.97, "middle": 1.0, "high": 1.04},
  {"framework": "megatron-2026", "network": "dense", "rows": 8, "low": 0.99, "middle": 1.0, "high": 1.01}
]})",
    "residuals.json");

scenarios::Scenario planned(const std::string& model, const std::string& framework) {
    return scenarios::parse_scenario("{model: " + model +
                                         ", cluster: hgx-h100, nodes: 1, framework: " + framework +
                                         ", parallel: {tensor: 1}, training: {global_batch: 64}}",
                                     "plan.yaml");
}

TEST(Residuals, OfPeaksAreThoseOfItsFrameworkElseOfAllNetworksOfItsKind) {
    const auto rows = [](const std::string& model, const std::string& framework) {
        const auto found = memory_residuals_of(planned(model, framework), kPeaks);
        return found ? found->rows : 0;
    };
    EXPECT_EQ(rows("llama3-8b", "megatron-2026"), 8);
    EXPECT_EQ(rows("llama3-8b", "pytorch-fsdp2"), 30);
    EXPECT_EQ(rows("mixtral-8x7b", "megatron-2026"), 0);
    EXPECT_EQ(rows("llama3-8b", "debubble"), 0);
}

TEST(Residuals, OfPeaksThatFallAreAMistake) {
    EXPECT_THROW(parse_residuals(R"({"classes": [], "memory": [{"network": "dense", "rows": 3,
                                    "low": 1.1, "middle": 1.0, "high": 1.2}]})",
                                 "residuals.json"),
                 InputError);
    EXPECT_THROW(parse_residuals(R"({"classes": [], "memory": 3})", "residuals.json"), InputError);
}

/// Published peaks of dense networks of Megatron lie on both sides of the prediction.
TEST(Predict, CannotTellWhetherAPlanFitsWhoseLimitLiesWithinTheRangeOfItsPeak) {
    scenarios::Scenario scenario = planned("llama3-8b", "megatron-2026");
    scenario.cluster.gpu.memory = Bytes{std::int64_t{1} << 40};
    const Prediction roomy = predict(scenario).prediction;
    EXPECT_EQ(roomy.memory_verdict, MemoryVerdict::Fits);
    ASSERT_TRUE(roomy.memory_range);
    ASSERT_LT(roomy.memory_range->low, roomy.memory_range->high);
    const auto with_room = [&](Bytes room) {
        scenario.cluster.gpu.memory = room + roomy.headroom;
        return predict(scenario).prediction;
    };
    const Bytes one{1};
    EXPECT_EQ(with_room(roomy.memory_range->high).memory_verdict, MemoryVerdict::Fits);
    EXPECT_EQ(with_room(roomy.memory_range->high - one).memory_verdict,
              MemoryVerdict::CannotBeTold);
    Bytes asked;
    for (const RankPrediction& rank : roomy.ranks) asked = std::max(asked, rank.peak_memory);
    const double low = roomy.memory_range->from.low;
    const auto least = static_cast<std::int64_t>(static_cast<double>(asked.count) * low);
    EXPECT_EQ(with_room(Bytes{least}).memory_verdict, MemoryVerdict::CannotBeTold);
    const Prediction small = with_room(Bytes{least} - one);
    EXPECT_EQ(small.memory_verdict, MemoryVerdict::DoesNotFit);
    EXPECT_FALSE(small.fits);
    EXPECT_THAT(small.reason, HasSubstr("GiB too much"));
}

}  // namespace
}  // namespace debubble::sim
