#include <gmock/gmock.h>

#include "schedule/dependencies.h"
#include "schedule/generators/generators.h"
#include "schedule/replay/replay.h"
#include "sim/engine/cost_model.h"
#include "sim/engine/simulate.h"
#include "trace/statistics.h"

/// What statistics() reads off a trace of the simulator.
namespace debubble::sim {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kReduce{70};
constexpr nanoseconds kNorm{9};
constexpr nanoseconds kOptimizer{31};

/// F = 100, I = 110, W = 90, a tenth of each exposed communication; links 7 ns.
class UnevenCosts final : public CostModel {
public:
    ComputeCost compute(const Compute& c, Rank) const override {
        constexpr std::array kLength{100, 200, 110, 90};  // F, B, I, W
        ComputeCost cost;
        cost.duration = nanoseconds{kLength[static_cast<std::size_t>(c.pass)]};
        cost.exposed = cost.duration / 10;
        return cost;
    }
    Flow transfer(const Message&, Rank, Rank) const override { return wait(nanoseconds{7}); }
    Flow reduce_grad(Stage, std::span<const Rank>) const override { return wait(kReduce); }
    Flow grad_norm() const override { return wait(kNorm); }
    Duration optimizer_step(Rank) const override { return kOptimizer; }

private:
    static Flow wait(Duration length) {
        Flow flow;
        flow.latency = length;
        return flow;
    }
};

/// The rank that computes the stage (loop and V placements have one).
Rank owner(const Schedule& schedule, Stage stage) {
    return schedule.placement.ranks_of(stage).front();
}

/// A Recv directly before the compute that needs it, a Send directly after the
/// one that makes it; gradients reduced at the end, norm, optimizer.
Program lowered(const Schedule& schedule) {
    Program program = schedule;
    for (int r = 0; r < schedule.shape.ranks; ++r) {
        ActionList& list = program.ranks[static_cast<std::size_t>(r)];
        list.clear();
        for (const Action& action : schedule.ranks[static_cast<std::size_t>(r)]) {
            const auto& c = std::get<Compute>(action);
            if (const auto m = neighbour_input_of(c, schedule.stage_count());
                m && owner(schedule, m->producer).index != r)
                list.push_back(Recv{*m, owner(schedule, m->producer)});
            list.push_back(action);
            const auto result = result_of(c);
            if (!result) continue;
            const Stage to = consumer_of(*result);
            if (to.index >= 0 && to.index < schedule.stage_count() &&
                owner(schedule, to).index != r)
                list.push_back(Send{*result, owner(schedule, to)});
        }
        for (const Stage stage : schedule.placement.stages_of(Rank{r}))
            list.push_back(ReduceGrad{stage});
        list.push_back(GradNorm{});
        list.push_back(OptimizerStep{});
    }
    return program;
}

struct ScheduleCase {
    const char* name;
    PipelineShape shape;
};
constexpr std::array kCases{
    ScheduleCase{"gpipe", {4, 1, 8}},  ScheduleCase{"1f1b", {4, 1, 8}},
    ScheduleCase{"1f1b", {8, 1, 32}},  ScheduleCase{"zb-h1", {4, 1, 8}},
    ScheduleCase{"zb-h2", {4, 1, 12}}, ScheduleCase{"interleaved-1f1b", {4, 2, 8}}};

TEST(SimulatedTrace, EveryNanosecondIsAccountedFor) {
    for (const ScheduleCase& c : kCases) {
        SCOPED_TRACE(c.name);
        const Program program = lowered(generate(c.name, c.shape));
        const Trace trace = simulate(program, UnevenCosts()).trace;
        const Statistics s = statistics(trace);
        for (const RankStatistics& rank : s.ranks) {
            EXPECT_EQ(rank.busy + rank.exposed + rank.optimizer + rank.idle, s.step);
            EXPECT_EQ(rank.busy * 10,
                      9 * c.shape.micro_batches * c.shape.stages_per_rank * nanoseconds{300});
            EXPECT_EQ(rank.optimizer, kOptimizer);
            const auto launch = static_cast<std::size_t>(BubbleCause::Launch);
            EXPECT_EQ(rank.idle_by_cause[launch], Duration{})
                << "the simulator's host is never late";
        }
    }
}

TEST(SimulatedTrace, TheMakespanIsTheLongestPathAndTheStepItsEnd) {
    for (const ScheduleCase& c : kCases) {
        SCOPED_TRACE(c.name);
        const Schedule schedule = generate(c.name, c.shape);
        const PipelineCosts costs{
            {{nanoseconds{100}, nanoseconds{110}, nanoseconds{90}}}, nanoseconds{7}, {}};
        const Replay expected = replay(schedule, costs);
        const Statistics s = statistics(simulate(lowered(schedule), UnevenCosts()).trace);
        EXPECT_EQ(s.makespan, expected.makespan);
        EXPECT_NEAR(s.bubble, expected.bubble, 1e-12);
        EXPECT_NEAR(s.span_bubble, expected.span_bubble, 1e-12);
    }
}

TEST(SimulatedTrace, TheCriticalPathCoversTheStep) {
    for (const ScheduleCase& c : kCases) {
        SCOPED_TRACE(c.name);
        const Trace trace = simulate(lowered(generate(c.name, c.shape)), UnevenCosts()).trace;
        const Statistics s = statistics(trace);
        Instant reached{};
        for (const std::size_t i : s.critical_path) {
            EXPECT_LE(trace.spans[i].begin, reached) << to_text(trace.spans[i].action);
            reached = std::max(reached, trace.spans[i].end);
        }
        EXPECT_EQ(reached - Instant{}, s.step);
        EXPECT_EQ(to_text(trace.spans[s.critical_path.back()].action), "OPTIMIZER_STEP");
    }
}

}  // namespace
}  // namespace debubble::sim
