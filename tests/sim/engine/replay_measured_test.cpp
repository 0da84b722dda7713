#include "sim/engine/replay_measured.h"

#include <random>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "schedule/generators/generators.h"
#include "tests/sim/programs.h"

namespace debubble::sim {
namespace {

TEST(ReplayMeasured, GivesASimulatedTraceBackToTheNanosecond) {
    for (const NamedProgram& p : small_programs())
        for (const auto& [sends_block, copies_block] :
             {std::pair(false, false), {true, false}, {false, true}}) {
            if (sends_block && !p.name.starts_with("1f1b p")) continue;  // many jam
            SimulateOptions how;
            how.header.sends_block = sends_block;
            how.header.copies_block = copies_block;
            how.steps = p.name.ends_with("ZeRO-2") ? 2 : 1;  // post-validated
            const Trace trace = simulate(p.program, DistinctCosts(), how).trace;
            const Trace replayed = replay_measured(p.program, trace);
            EXPECT_EQ(replayed.spans, trace.spans) << p.name;
            EXPECT_EQ(replayed.header.step_time, trace.header.step_time) << p.name;
            if (testing::Test::HasFailure()) return;
        }
}

/// As DistinctCosts, but every compute of every microbatch takes a time of its own.
class JitteryCosts final : public CostModel {
public:
    bool per_micro_batch() const override { return true; }
    ComputeCost compute(const Compute& c, Rank rank) const override {
        ComputeCost cost = costs_.compute(c, rank);
        std::minstd_rand random(static_cast<unsigned>(
            1 + c.micro_batch.index + 100 * c.stage.index + 10'000 * static_cast<int>(c.pass)));
        random.discard(3);
        cost.duration += Duration{random() % 400};
        return cost;
    }
    ComputeCost recompute(const Recompute& r, Rank k) const override {
        return costs_.recompute(r, k);
    }
    ComputeCost overlap(const Overlap& o, Rank rank) const override {
        ComputeCost cost = compute(o.first, rank);
        cost.duration += compute(o.second, rank).duration / 2;
        return cost;
    }
    Flow transfer(const Message& m, Rank from, Rank to) const override {
        Flow flow = costs_.transfer(m, from, to);
        flow.latency += Duration{m.micro_batch.index * 17 % 11};
        return flow;
    }
    Flow unshard(Stage s, Rank rank) const override { return costs_.unshard(s, rank); }
    Flow reduce_grad(Stage s, std::span<const Rank> r) const override {
        return costs_.reduce_grad(s, r);
    }
    Flow tied_grad(Stage s, std::span<const Rank> r) const override {
        return costs_.tied_grad(s, r);
    }
    Flow grad_norm() const override { return costs_.grad_norm(); }
    Flow offload(Stage s, Rank rank) const override { return costs_.offload(s, rank); }
    Duration optimizer_step(Rank rank) const override { return costs_.optimizer_step(rank); }

private:
    DistinctCosts costs_;
};

TEST(ReplayMeasured, KeepsEachMicrobatchsOwnTime) {
    int apart = 0;
    for (const NamedProgram& p : small_programs()) {
        const Trace trace = simulate(p.program, JitteryCosts()).trace;
        EXPECT_EQ(replay_measured(p.program, trace).spans, trace.spans) << p.name;
        apart += simulate(p.program, DistinctCosts()).trace.spans != trace.spans;
    }
    EXPECT_GE(apart, 100);
}

TEST(ReplayMeasured, IsNotMisledByWaitingForPeers) {
    const Program program = lower(generate("1f1b", {2, 1, 4, 1}), {});
    const Trace played = simulate(program, DistinctCosts()).trace;
    Trace trace = played;
    for (Span& span : trace.spans)  // posted long before the message was sent
        if (std::holds_alternative<Recv>(span.action)) span.begin -= Duration{50};
    EXPECT_EQ(replay_measured(program, trace).spans, played.spans);
}

TEST(ReplayMeasured, TakesAsLongBetweenStepsAsTheRun) {
    const Program program = lower(generate("1f1b", {2, 1, 4, 1}), {});
    Trace trace = simulate(program, DistinctCosts()).trace;
    *trace.header.step_time += Duration{777};
    const Trace replayed = replay_measured(program, trace);
    EXPECT_EQ(replayed.header.step_time, trace.header.step_time);
    for (std::size_t i = 0; i < trace.spans.size(); ++i)
        EXPECT_EQ(replayed.spans[i].length(), trace.spans[i].length());
}

TEST(ReplayMeasured, NamesWhatTheTraceDoesNotHold) {
    const Program program = lower(generate("gpipe", {2, 1, 2, 1}), {});
    Trace trace = simulate(program, DistinctCosts()).trace;
    std::erase_if(trace.spans, [](const Span& s) { return to_text(s.action) == "1B1"; });
    try {
        replay_measured(program, trace);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "error: the run's trace holds no 1B1 of rank 1, which its program lists\n");
    }
}

}  // namespace
}  // namespace debubble::sim
