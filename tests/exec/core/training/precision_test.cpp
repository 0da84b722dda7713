#include <gtest/gtest.h>

#include "exec/comm/transports.h"
#include "exec/core/stage/operators/executor_scenario.h"
#include "exec/cpu/cpu_kernels.h"
#include "tests/exec/support/goldens.h"
#include "tests/exec/support/tensors.h"
#include "tests/exec/support/training_job.h"

/// Types of parameters, gradients and moments; optimizers; steps that are validated late.
namespace debubble::exec {
namespace {

constexpr int kSteps = 3;

Layout single(Layout layout) {
    layout.parallel = "{data: 1}";
    layout.schedule = "1f1b";
    layout.post_validation = false;
    return layout;
}

class Precisions : public testing::TestWithParam<Layout> {};

TEST_P(Precisions, StepAsASingleRankDoes) {
    const JobResult result = run_job(GetParam(), kSteps);
    EXPECT_EQ(result.weights, run_job(single(GetParam()), kSteps).weights);
    EXPECT_TRUE(result.copies_agree);
}

std::vector<Layout> precisions() {
    std::vector<Layout> all;
    for (const char* precision : {"bf16", "pure-bf16", "fp16"})
        for (const char* zero : {"0", "1", "2", "3"}) {
            all.push_back(
                {std::string("{tensor: 2, pipeline: 2, data: 2, zero_stage: ") + zero + "}", "gpt2",
                 "1f1b", precision});
            all.back().training = "clip_norm: 2";
        }
    // These sums are exact in bf16 too.
    for (const char* zero : {"0", "1", "2", "3"})
        all.push_back({std::string("{pipeline: 2, data: 2, communication_dtype: bf16, "
                                   "zero_stage: ") +
                       zero + "}"});
    all.push_back({"{data: 2, cpu_offload: true, zero_stage: 1}", "llama", "1f1b", "bf16"});
    return all;
}
INSTANTIATE_TEST_SUITE_P(All, Precisions, testing::ValuesIn(precisions()));

TEST(CommunicationType, RoundsGradientsOnTheWire) {
    Layout layout{"{data: 2, zero_stage: 2}"};
    layout.rough = true;
    layout.training = "optimizer: {name: sgd, lr: 0.1}";
    Layout narrow = layout;
    narrow.parallel = "{data: 2, zero_stage: 2, communication_dtype: bf16}";
    const GlobalTensors wide = run_job(layout, 1).weights;
    const GlobalTensors rounded = run_job(narrow, 1).weights;
    double largest = 0;
    for (const auto& [name, values] : wide)
        for (std::size_t i = 0; i < values.size(); ++i)
            largest = std::max(largest, std::abs(double{values[i]} - rounded.at(name)[i]));
    EXPECT_GT(largest, 1e-5) << "nothing was rounded";
    EXPECT_LT(largest, 0.1 * 8 * 0.5 / 128) << "more than the rounding of 8 gradients";
}

class PostValidated : public testing::TestWithParam<Layout> {};

TEST_P(PostValidated, StepsAreTheSynchronisedOnes) {
    for (const bool clips : {true, false}) {
        Layout layout = GetParam();
        layout.training = clips ? "clip_norm: 2" : "clip_norm: 1000";
        const JobResult result = run_job(layout, kSteps);
        for (const StepOutcome& outcome : result.outcomes)
            EXPECT_EQ(outcome.rolled_back, clips) << outcome.norm;
        EXPECT_TRUE(result.copies_agree);
        layout.post_validation = false;
        const JobResult synchronised = run_job(layout, kSteps);
        for (const StepOutcome& outcome : synchronised.outcomes) EXPECT_FALSE(outcome.rolled_back);
        EXPECT_EQ(result.weights, synchronised.weights);
        EXPECT_EQ(result.weights, run_job(single(layout), kSteps).weights);
    }
}

std::vector<Layout> post_validated() {
    std::vector<Layout> all;
    for (const char* precision : {"fp32", "bf16"})
        for (const char* zero : {"0", "1", "2", "3"})
            for (const char* schedule : {"zb-h1", "zb-v", "dualpipe-v"}) {
                all.push_back({std::string("{pipeline: 2, data: 2, zero_stage: ") + zero + "}",
                               "gpt2", schedule, precision});
                all.back().post_validation = true;
            }
    all.push_back({"{tensor: 2, sequence: true, pipeline: 2, data: 1}", "llama", "zb-h1"});
    all.back().post_validation = true;
    return all;
}
INSTANTIATE_TEST_SUITE_P(All, PostValidated, testing::ValuesIn(post_validated()));

/// The first 40 elements of the embedding are the parameter of make_goldens.py.
TEST(OptimizerStep, IsPyTorchs) {
    const Goldens golden("optimizers");
    const std::pair<std::string, std::string> recipes[] = {
        {"adamw", "{name: adamw, lr: 0.01, betas: [0.9, 0.95], weight_decay: 0.1}"},
        {"adam", "{name: adam, lr: 0.01, eps: 1e-6, weight_decay: 0.05}"},
        {"sgd", "{name: sgd, lr: 0.1, weight_decay: 0.01}"}};
    for (const auto& [name, recipe] : recipes) {
        Layout layout{"{data: 1}"};
        layout.training = "optimizer: " + recipe;
        const scenarios::Scenario scenario = scenario_of(layout);
        const scenarios::Plan plan = scenarios::make_plan(scenario);
        run_local(1, Transport::Buffered, [&](Communicator& world) {
            const auto kernels = make_fixed_order_kernels();
            Arena arena(Bytes{1 << 26});
            RankTraining training =
                make_rank_training(executor_scenario(scenario), plan, training_options(scenario),
                                   world, *kernels, arena, std::chrono::seconds(60));
            TrainedStage& state = training.state_of(Stage{0});
            const View<float> value{state.value(0).as<float>().data, {40}};
            std::ranges::copy(golden["start"].as<float>(), value.begin());
            for (std::int64_t step = 0; step < 3; ++step) {
                training.step->begin_step(step);
                const View<float> gradient = golden["gradients"].as<float>();
                std::copy_n(gradient.row(step), 40, state.gradient(0).as<float>().begin());
                training.step->grad_norm()->wait(within(std::chrono::seconds(60)));
                training.step->optimizer_step();
                const View<const float> expected{golden[name].as<float>().row(step), {40}};
                EXPECT_LT(relative_difference<float>(value, expected), 1e-6) << name << step;
            }
        });
    }
}

}  // namespace
}  // namespace debubble::exec
