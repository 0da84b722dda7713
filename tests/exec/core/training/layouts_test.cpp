#include <cmath>

#include <gtest/gtest.h>

#include "tests/exec/support/training_job.h"

/// Every layout trains the same network.
namespace debubble::exec {
namespace {

constexpr int kSteps = 3;
const std::string kRecipe = "clip_norm: 2";

/// Global norm by hand.
double norm_of(const std::map<std::string, std::vector<double>>& gradient) {
    double squares = 0;
    for (const auto& [name, values] : gradient)
        for (const double value : values) squares += value * value;
    return std::sqrt(squares);
}

double largest_difference(const GlobalTensors& a, const GlobalTensors& b) {
    EXPECT_EQ(a.size(), b.size());
    double largest = 0;
    for (const auto& [name, values] : a) {
        const std::vector<float>& others = b.at(name);
        EXPECT_EQ(values.size(), others.size()) << name;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double difference = std::abs(double{values[i]} - double{others[i]});
            if (!(difference <= largest)) largest = difference;  // a NaN stays
        }
    }
    return largest;
}

Layout alone(const Layout& like) {
    Layout single = like;
    single.parallel = "{data: 1}";
    single.schedule = "1f1b";
    single.post_validation = false;
    return single;
}

class EveryLayout : public testing::TestWithParam<Layout> {};

TEST_P(EveryLayout, TakesTheStepsOfASingleRankToTheBit) {
    Layout layout = GetParam();
    layout.training = kRecipe;
    const JobResult result = run_job(layout, kSteps);
    const JobResult single = run_job(alone(layout), kSteps);
    EXPECT_EQ(result.weights, single.weights);
    EXPECT_TRUE(result.copies_agree);
    for (int step = 0; step < kSteps; ++step) {
        const double norm = norm_of(global_gradient(layout, step));
        EXPECT_NEAR(result.outcomes[step].norm, norm, 1e-12 * norm);
        EXPECT_EQ(result.outcomes[step].norm, single.outcomes[step].norm);
        EXPECT_LT(result.outcomes[step].clip_factor, 1) << "the recipe clips";
    }
}

TEST_P(EveryLayout, DiffersByRoundingWhereSumsHaveAnotherOrder) {
    Layout layout = GetParam();
    layout.training = kRecipe + "\n  optimizer: {name: sgd, lr: 0.1, momentum: 0.9}";
    layout.rough = true;
    const JobResult result = run_job(layout, kSteps);
    const JobResult single = run_job(alone(layout), kSteps);
    EXPECT_LT(largest_difference(result.weights, single.weights), 1e-6);
    EXPECT_TRUE(result.copies_agree);
}

std::vector<Layout> layouts() {
    std::vector<Layout> all;
    for (const int data : {2, 4})
        for (const int zero : {0, 1, 2, 3})
            all.push_back(
                {"{data: " + std::to_string(data) + ", zero_stage: " + std::to_string(zero) + "}"});
    const auto pipeline = [&](const std::string& schedule, const std::string& parallel,
                              const std::string& model = "gpt2") {
        all.push_back({parallel, model, schedule});
    };
    for (const char* zero : {"0", "1", "2", "3"}) {
        pipeline("1f1b", std::string("{pipeline: 2, data: 2, zero_stage: ") + zero + "}");
        pipeline("zb-v", std::string("{pipeline: 2, data: 2, zero_stage: ") + zero + "}");
        pipeline("chimera", std::string("{pipeline: 2, data: 2, zero_stage: ") + zero + "}");
    }
    pipeline("dualpipe", "{pipeline: 2, data: 1}");
    pipeline("chimera", "{pipeline: 4, data: 1}");
    pipeline("zb-h1", "{pipeline: 4, data: 1}");
    pipeline("{name: interleaved-1f1b, stages_per_rank: 2}", "{pipeline: 2, data: 2}");
    pipeline("1f1b", "{pipeline: 2, data: 2, zero_stage: 3, wrap: layer}");
    pipeline("chimera", "{pipeline: 2, data: 2, zero_stage: 3, wrap: layer}");
    pipeline("1f1b", "{data: 2, zero_stage: 3, wrap: stage}");
    pipeline("1f1b", "{tensor: 2, data: 1}");
    pipeline("1f1b", "{tensor: 2, sequence: true, data: 1}");
    pipeline("1f1b", "{tensor: 2, sequence: true, data: 2, zero_stage: 1}");
    pipeline("1f1b", "{tensor: 2, sequence: true, data: 2, zero_stage: 2}", "llama");
    pipeline("zb-h1", "{tensor: 2, sequence: true, pipeline: 2, data: 2, zero_stage: 3}");
    pipeline("zb-v", "{tensor: 2, pipeline: 2, data: 2, zero_stage: 1}");
    pipeline("1f1b", "{tensor: 2, pipeline: 2, data: 2}", "llama");
    pipeline("1f1b", "{tensor: 2, pipeline: 2, data: 2, zero_stage: 2}", "vit");
    for (const char* zero : {"0", "1", "2"}) {
        const std::string more = std::string(", zero_stage: ") + zero + "}";
        pipeline("1f1b", "{data: 2, expert: 2" + more, "experts");
        pipeline("1f1b", "{data: 4, expert: 2" + more, "experts");
        pipeline("zb-h1", "{pipeline: 2, data: 2, expert: 2" + more, "experts");
        pipeline("1f1b", "{tensor: 2, sequence: true, data: 2, expert: 2" + more, "experts");
        pipeline("1f1b", "{tensor: 2, sequence: true, data: 2, expert: 4, expert_tensor: 1" + more,
                 "experts");
        pipeline("1f1b", "{tensor: 2, sequence: true, data: 2, expert_tensor: 1" + more, "experts");
        pipeline("1f1b", "{tensor: 2, sequence: true, data: 1, expert_tensor: 1" + more, "experts");
        pipeline("chimera", "{pipeline: 2, data: 4, expert: 2" + more, "experts");
    }
    pipeline("1f1b", "{tensor: 2, sequence: true, data: 2, zero_stage: 3}", "experts");
    return all;
}
INSTANTIATE_TEST_SUITE_P(All, EveryLayout, testing::ValuesIn(layouts()));

}  // namespace
}  // namespace debubble::exec
