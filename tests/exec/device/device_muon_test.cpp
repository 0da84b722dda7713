#include <cmath>

#include <gtest/gtest.h>

#include "tests/exec/support/tested_device.h"
#include "tests/exec/support/training_job.h"

/// Steps of Muon on the CUDA back end, along gradients that are made up: those of the processor,
/// also of 16-bit weights beside fp32 ones, and of matrices that are packed.
namespace debubble::exec {
namespace {

constexpr int kSteps = 3;
/// A library's sums have another order, and five iterations multiply the rounding of small singular
/// values by 3.4445^5; a factor that is wrong by a thousandth is seen.
constexpr double kTolerance = 3e-4;

/// The largest difference of a tensor's weights, relative to the largest change of one of them.
double difference(const std::vector<float>& mine, const std::vector<float>& other,
                  const std::vector<float>& before) {
    double apart = 0, moved = 0;
    for (std::size_t i = 0; i < mine.size(); ++i) {
        apart = std::max(apart, std::abs(static_cast<double>(mine[i]) - other[i]));
        moved = std::max(moved, std::abs(static_cast<double>(mine[i]) - before[i]));
    }
    EXPECT_GT(moved, 0);
    return apart / moved;
}

class MuonAgainstTheProcessor : public testing::TestWithParam<Layout> {};

TEST_P(MuonAgainstTheProcessor, TakesTheSameSteps) {
    if (const std::string reason = why_no_device(); !reason.empty()) GTEST_SKIP() << reason;
    Layout layout = GetParam();
    layout.training =
        "clip_norm: 2\n  optimizer: {name: muon, lr: 0.01, momentum: 0.9, weight_decay: 0.1, "
        "nesterov: true}";
    const JobResult before = run_job(layout, 0), here = run_job(layout, kSteps);
    layout.device = tested_device;
    const JobResult there = run_job(layout, kSteps);
    ASSERT_EQ(there.weights.size(), here.weights.size());
    for (const auto& [name, weights] : here.weights)
        EXPECT_LT(difference(there.weights.at(name), weights, before.weights.at(name)), kTolerance)
            << name;
    EXPECT_TRUE(there.copies_agree);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, MuonAgainstTheProcessor,
    testing::Values(Layout{"{data: 1}"}, Layout{"{data: 1}", "gpt2", "1f1b", "bf16"},
                    Layout{"{data: 2}", "llama", "1f1b", "bf16"},
                    Layout{"{data: 2, zero_stage: 1}", "gpt2", "1f1b", "bf16"},
                    Layout{"{data: 2, zero_stage: 3}", "llama", "1f1b", "bf16"},
                    Layout{"{tensor: 2, data: 1}", "gpt2", "1f1b", "bf16"},
                    Layout{"{tensor: 2, sequence: true, data: 2, zero_stage: 1}", "llama", "1f1b",
                           "fp16"}));

}  // namespace
}  // namespace debubble::exec
