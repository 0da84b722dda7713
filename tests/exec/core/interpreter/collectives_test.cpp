#include "exec/core/interpreter/communications.h"

#include <thread>

#include <gtest/gtest.h>

#include "exec/core/training/training_step.h"

/// What the spans of collectives mean.
namespace debubble::exec {
namespace {

/// Takes its time before it meets the others, as the sum of squares does.
class SlowNorm final : public StepActions {
public:
    void begin_step(std::int64_t) override {}
    Pending unshard(Stage) override { return nullptr; }
    void reshard(Stage) override {}
    Pending reduce_grad(Stage) override { return nullptr; }
    Pending tied_grad_reduce(Stage) override { return nullptr; }
    Pending grad_norm() override {
        return pending(std::make_shared<Work>([this](Deadline) {
            began = Clock::now();
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            met = Clock::now();
            return Interval{met, met + kReduction};
        }));
    }
    void optimizer_step() override {}

    static constexpr std::chrono::nanoseconds kReduction{1'234};
    Clock::time_point began, met;
};

TEST(ANormsSpan, HoldsTheSumOfSquaresAndTheReduction) {
    SlowNorm actions;
    Recorder recorder(Rank{0}, 0);
    Collectives collectives(actions, recorder, std::chrono::seconds(10));
    collectives.grad_norm();
    collectives.finish();
    const StepRecord record = std::move(recorder).finish({});
    ASSERT_EQ(record.spans.size(), 1U);
    EXPECT_EQ(record.spans[0].action, Action{GradNorm{}});
    EXPECT_LE(record.spans[0].begin, instant_of(actions.began));
    EXPECT_EQ(record.spans[0].end, instant_of(actions.met + SlowNorm::kReduction));
    EXPECT_EQ(record.norm_reduction, SlowNorm::kReduction);
}

}  // namespace
}  // namespace debubble::exec
