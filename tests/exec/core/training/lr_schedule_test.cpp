#include "exec/core/training/training_options.h"

#include <gtest/gtest.h>

#include "tests/exec/support/goldens.h"

namespace debubble::exec {
namespace {

using LrShape = LrSchedule::Shape;

void expect_torchs_rates(const std::string& name, const LrSchedule& schedule) {
    const Goldens golden("lr_schedules");
    const View<float> rates = golden[name].as<float>();
    ASSERT_EQ(rates.size(), 12);
    for (std::int64_t step = 0; step < rates.size(); ++step)
        EXPECT_NEAR(schedule.rate(0.4, step), rates[step], 1e-7) << name << ", step " << step;
}

TEST(LrSchedule, HasPyTorchsRates) {
    expect_torchs_rates("warmup", {LrShape::Constant, 4});
    expect_torchs_rates("linear", {LrShape::Linear, 4, 0.25, 12, 0.05});
    expect_torchs_rates("cosine", {LrShape::Cosine, 0, 0.1, 12});
    expect_torchs_rates("warmed-cosine", {LrShape::Cosine, 4, 0.1, 12, 0.05});
}

TEST(LrSchedule, StaysAtItsLeastAfterItsEnd) {
    const LrSchedule cosine{LrShape::Cosine, 4, 0.1, 12, 0.05};
    EXPECT_DOUBLE_EQ(cosine.rate(0.4, 12), 0.05);
    EXPECT_DOUBLE_EQ(cosine.rate(0.4, 1000), 0.05);
    const LrSchedule linear{LrShape::Linear, 0, 1, 12, 0};
    EXPECT_EQ(linear.rate(0.4, 13), 0);
}

}  // namespace
}  // namespace debubble::exec
