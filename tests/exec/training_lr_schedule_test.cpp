#include "exec/core/training/training_options.h"

#include <gtest/gtest.h>

#include "tests/exec/goldens.h"

namespace debubble::exec {
namespace {

using Shape = LrSchedule::Shape;

void expect_torchs_rates(const std::string& name, const LrSchedule& schedule) {
    const Goldens golden("lr_schedules");
    const View<float> rates = golden[name].as<float>();
    ASSERT_EQ(rates.size(), 12);
    for (std::int64_t step = 0; step < rates.size(); ++step)
        EXPECT_NEAR(schedule.rate(0.4, step), rates[step], 1e-7) << name << ", step " << step;
}

TEST(LrSchedule, HasPyTorchsRates) {
    expect_torchs_rates("warmup", {Shape::Constant, 4});
    expect_torchs_rates("linear", {Shape::Linear, 4, 0.25, 12, 0.05});
    expect_torchs_rates("cosine", {Shape::Cosine, 0, 0.1, 12});
    expect_torchs_rates("warmed-cosine", {Shape::Cosine, 4, 0.1, 12, 0.05});
}

TEST(LrSchedule, StaysAtItsLeastAfterItsEnd) {
    const LrSchedule cosine{Shape::Cosine, 4, 0.1, 12, 0.05};
    EXPECT_DOUBLE_EQ(cosine.rate(0.4, 12), 0.05);
    EXPECT_DOUBLE_EQ(cosine.rate(0.4, 1000), 0.05);
    const LrSchedule linear{Shape::Linear, 0, 1, 12, 0};
    EXPECT_EQ(linear.rate(0.4, 13), 0);
}

}  // namespace
}  // namespace debubble::exec
