#include <gtest/gtest.h>

#include "tests/exec/support/training_job.h"

namespace debubble::exec {
namespace {

/// The events, one letter a step: '.' good, 'x' overflow; and the scale after each.
void expect_scales(const LossScaleOptions& options, const std::string& steps,
                   const std::vector<double>& scales) {
    LossScaler scaler(options);
    ASSERT_EQ(steps.size(), scales.size());
    std::int64_t skipped = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        scaler.update(steps[i] == 'x');
        skipped += steps[i] == 'x' ? 1 : 0;
        EXPECT_EQ(scaler.scale(), scales[i]) << "after step " << i << " of " << steps;
        EXPECT_EQ(scaler.state().skipped_steps, skipped);
    }
}

TEST(LossScaler, IsPyTorchsWithoutHysteresisAndBounds) {
    LossScaleOptions options;
    EXPECT_EQ(LossScaler(options).scale(), 65536);
    options.initial_scale = 8;
    options.growth_interval = 3;
    // Growth counts good steps in a row.
    expect_scales(options, "..x...x.xx...", {8, 8, 4, 4, 4, 8, 4, 4, 2, 1, 1, 1, 2});
}

TEST(LossScaler, HasColossalAIsHysteresisAndBounds) {
    LossScaleOptions options;
    options.initial_scale = 16;
    options.growth_interval = 2;
    options.hysteresis = 2;
    options.min_scale = 4;
    options.max_scale = 32;
    // The first overflow is let pass; once two have come each further one counts, until growth.
    expect_scales(options, "x.x.xxx....x..x", {16, 16, 8, 8, 4, 4, 4, 4, 8, 8, 16, 16, 16, 32, 32});
    options.growth_factor = 4;
    options.backoff_factor = 0.25;
    options.hysteresis = 1;
    expect_scales(options, "x..x....", {4, 4, 16, 4, 4, 16, 16, 32});
}

Layout overflowing(const std::string& parallel, const std::string& schedule = "1f1b") {
    Layout layout{parallel, "gpt2", schedule, "fp16"};
    layout.training = "clip_norm: 2\n  loss_scale: {initial_scale: 64, growth_interval: 2}";
    layout.overflowing_steps = {1};
    return layout;
}

class Overflow : public testing::TestWithParam<Layout> {};

TEST_P(Overflow, OnOneRankSkipsTheStepOnAll) {
    const Layout layout = GetParam();
    const JobResult result = run_job(layout, 4);
    EXPECT_TRUE(result.outcomes[1].skipped);
    for (const int step : {0, 2, 3}) EXPECT_FALSE(result.outcomes[step].skipped) << step;
    EXPECT_EQ(result.outcomes[1].loss_scale, 64);
    EXPECT_EQ(result.outcomes[2].loss_scale, 32);
    EXPECT_TRUE(result.copies_agree);

    Layout single = layout;
    single.parallel = "{data: 1}";
    single.schedule = "1f1b";
    single.post_validation = false;
    EXPECT_EQ(result.weights, run_job(single, 4).weights);
    // As if the step had not been.
    EXPECT_EQ(run_job(layout, 1).weights, run_job(layout, 2).weights);
}

std::vector<Layout> overflow_layouts() {
    std::vector<Layout> all;
    for (const char* zero : {"0", "1", "2", "3"}) {
        all.push_back(overflowing(std::string("{pipeline: 2, data: 2, zero_stage: ") + zero + "}"));
        all.push_back(
            overflowing(std::string("{pipeline: 2, data: 2, zero_stage: ") + zero + "}", "zb-h1"));
        all.back().post_validation = true;
    }
    return all;
}
INSTANTIATE_TEST_SUITE_P(All, Overflow, testing::ValuesIn(overflow_layouts()));

TEST(Divergence, IsAnInfiniteGradientWithoutALossScale) {
    Layout layout{"{data: 2}"};
    layout.overflowing_steps = {1};
    const JobResult result = run_job(layout, 2);
    EXPECT_FALSE(result.outcomes[0].diverged);
    EXPECT_TRUE(result.outcomes[1].diverged);
    EXPECT_TRUE(std::isinf(result.outcomes[1].norm));
    EXPECT_EQ(result.weights, run_job(layout, 1).weights) << "it was not stepped";
}

}  // namespace
}  // namespace debubble::exec
