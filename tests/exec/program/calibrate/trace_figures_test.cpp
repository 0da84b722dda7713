#include "exec/program/calibrate/trace_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace debubble::exec {
namespace {

using testing::DoubleNear;

constexpr double kExact = 1e-12;

/// Two passes of rank 0, whose messages the passes of rank 1 wait for, from `at` (us) on. A pass
/// takes `pass`, a message 5 us, and 2 us lie between what a pass waits for and its begin.
void add_step(Trace& trace, long at, long pass, bool waits) {
    const auto add = [&](int rank, Lane lane, const Action& action, long from, long to) {
        trace.spans.push_back({Rank{rank},
                               0,
                               lane,
                               action,
                               Instant{Duration{1000 * (at + from)}},
                               Instant{Duration{1000 * (at + to)}},
                               {},
                               Bytes{100}});
    };
    long t = 0;
    long free = 0;
    for (int mb = 0; mb < 2; ++mb) {
        const MicroBatch micro_batch{mb, {}};
        const Message message{Message::Kind::Activation, Stage{0}, micro_batch};
        add(0, Lane::Compute, Compute{Pass::Forward, Stage{0}, micro_batch}, t, t + pass);
        t += pass;
        add(0, Lane::Send, Send{message, Rank{1}}, t + 1, t + 6);
        add(1, Lane::Recv, Recv{message, Rank{0}}, t + 1, t + 6);
        const long begin = std::max(free, t + 6) + 2;
        add(1, Lane::Compute, Compute{Pass::Forward, Stage{1}, micro_batch}, begin, begin + pass);
        free = begin + pass;
        t += waits ? 8 : 2;
    }
}

Trace run_of(const std::vector<long>& passes, bool waits) {
    Trace trace;
    trace.header.pipeline = 2;
    long at = 0;
    for (const long pass : passes) {
        add_step(trace, at, pass, waits);
        Instant end{};
        for (const Span& span : trace.spans) end = std::max(end, span.end);
        at = end.time_since_epoch().count() / 1000 + 7;
    }
    return trace;
}

TEST(TraceFigures, StepsThatTheMachineDisturbedAreNotTypical) {
    const std::vector<Trace> steps = typical_steps(run_of({100, 900, 110, 20, 120}, true));
    ASSERT_EQ(steps.size(), 3U);
    std::vector<double> means;
    for (const Trace& step : steps) means.push_back(times_of<Compute>(kind_times({step})).mean());
    EXPECT_THAT(means, testing::ElementsAre(DoubleNear(100e-6, kExact), DoubleNear(110e-6, kExact),
                                            DoubleNear(120e-6, kExact)));
    EXPECT_EQ(typical_steps(run_of({100, 900, 110}, true)).size(), 3U);
    EXPECT_EQ(typical_steps(run_of({100}, true)).size(), 1U);
}

TEST(TraceFigures, TheHostTakesTimeBeforePassesMessagesAndSteps) {
    for (const bool waits : {true, false}) {
        const Trace trace = run_of({100, 100, 100}, waits);
        const HostTimes host = host_times(trace, typical_steps(trace));
        EXPECT_NEAR(host.before_pass, 2e-6, kExact);
        EXPECT_NEAR(host.before_send, 1e-6, kExact);
        EXPECT_NEAR(host.between_steps, 7e-6, kExact);
        EXPECT_EQ(host.sends_beside_computes, waits ? 0 : 0.5);  // a step's last one has no compute
    }
    const Trace one = run_of({100}, true);
    EXPECT_EQ(host_times(one, typical_steps(one)).between_steps, 0);
}

TEST(TraceFigures, AMessageCountsByItsMeanAndBytes) {
    const Trace trace = run_of({100, 100}, true);
    const KindTimes received = times_of<Recv>(kind_times(typical_steps(trace)));
    EXPECT_EQ(received.lengths.size(), 4U);
    EXPECT_NEAR(received.mean(), 5e-6, kExact);
    EXPECT_EQ(received.mean_bytes(), 100);
    EXPECT_EQ(times_of<GradNorm>(kind_times(typical_steps(trace))).mean(), 0);
}

}  // namespace
}  // namespace debubble::exec
