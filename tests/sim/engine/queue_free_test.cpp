#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "sim/engine/build_task_graph.h"
#include "sim/engine/longest_path.h"
#include "sim/plan/ordered_plan.h"
#include "sim/plan/priced_plan.h"
#include "tests/sim/engine/random_plans.h"
#include "tests/sim/programs.h"

/// Without its queue the engine finds what it finds with it, to the nanosecond.
namespace debubble::sim {
namespace {

/// Messages over links that they share with the messages of `ranks_per_link` neighbours, and with
/// what half of the passes send.
class LinkedCosts final : public CostModel {
public:
    explicit LinkedCosts(int ranks_per_link)
        : ranks_per_link_(ranks_per_link), links_(64, BytesPerSecond{1e9 / 3}) {}

    ComputeCost compute(const Compute& c, Rank rank) const override {
        ComputeCost cost = plain_.compute(c, rank);
        if (c.stage.index % 2 == 1 && ranks_per_link_ > 1)
            cost.flows[0] = {Bytes{100 + c.stage.index}, {rank.index / ranks_per_link_}};
        return cost;
    }
    Flow transfer(const Message& m, Rank from, Rank to) const override {
        Flow flow = plain_.transfer(m, from, to);
        flow.bytes = Bytes{97 + 5 * m.producer.index};
        flow.links = {from.index / ranks_per_link_, 16 + to.index / ranks_per_link_};
        if (m.producer.index % 3 == 0)
            flow.also.push_back({Bytes{31}, {32 + from.index / ranks_per_link_}});
        return flow;
    }
    Flow reduce_grad(Stage s, std::span<const Rank> holders) const override {
        return plain_.reduce_grad(s, holders);
    }
    Flow unshard(Stage s, Rank rank) const override { return plain_.unshard(s, rank); }
    Flow grad_norm() const override { return plain_.grad_norm(); }
    Duration optimizer_step(Rank rank) const override { return plain_.optimizer_step(rank); }
    std::span<const BytesPerSecond> links() const override { return links_; }

private:
    DistinctCosts plain_;
    int ranks_per_link_;
    std::vector<BytesPerSecond> links_;
};

bool needs_no_queue(const Program& program, const CostModel& costs, const SimulateOptions& how) {
    return play_longest_path(build_task_graph(program, costs, MemoryModel{}, how), costs.links(),
                             false, {})
        .has_value();
}

void expect_both_ways_alike(const Program& program, const CostModel& costs,
                            const MemoryModel& memory, SimulateOptions how) {
    const Simulation path = simulate(program, costs, memory, how);
    how.by_events = true;
    const Simulation events = simulate(program, costs, memory, how);
    EXPECT_TRUE(path.trace == events.trace);
    EXPECT_EQ(path.step_ends, events.step_ends);
    EXPECT_EQ(path.peaks, events.peaks);
    EXPECT_EQ(path.events, events.events);
}

TEST(QueueFree, PlaysSmallProgramsAsTheQueueDoes) {
    int without_queue = 0, with_queue = 0;
    for (const NamedProgram& one : small_programs())
        for (const int ranks_per_link : {1, 2, 4}) {
            SCOPED_TRACE(one.name + ", ranks on a link: " + std::to_string(ranks_per_link));
            const LinkedCosts costs(ranks_per_link);
            SimulateOptions how;
            how.steps = 1 + ranks_per_link % 2;
            expect_both_ways_alike(one.program, costs, OneMebibyte(), how);
            ++(needs_no_queue(one.program, costs, how) ? without_queue : with_queue);
        }
    EXPECT_GE(without_queue, 100);
    EXPECT_GE(with_queue, 100);
}

TEST(QueueFree, PlaysRandomJobsAsTheQueueDoes) {
    Dice dice(50);
    int without_queue = 0, with_queue = 0;
    for (int i = 0; i < 400; ++i) {
        const RandomJob job = random_job(dice);
        SCOPED_TRACE(to_text(job));
        try {
            const scenarios::Scenario scenario = scenario_of(job);
            const PricedPlan plan = priced(ordered_plan(scenario), scenario);
            SimulateOptions how;
            how.header.transport = plan.plan.lowering.transport;
            how.steps = 1 + i % 2;
            expect_both_ways_alike(plan.plan.program, *plan.costs, *plan.memory, how);
            ++(needs_no_queue(plan.plan.program, *plan.costs, how) ? without_queue : with_queue);
        } catch (const InputError&) {  // a job that cannot be
        }
    }
    EXPECT_GE(without_queue, 30);
    EXPECT_GE(with_queue, 30);
}

/// Times are as long as they may be only if nobody adds them up.
TEST(QueueFree, LeavesWhatWouldTakeTooLongToTheQueueWhichSaysSo) {
    class Endless final : public CostModel {
        ComputeCost compute(const Compute&, Rank) const override {
            ComputeCost cost;
            cost.duration = from_seconds(4e5);
            return cost;
        }
    };
    const Program program = lower(generate("1f1b", {2, 1, 4}), {});
    EXPECT_FALSE(needs_no_queue(program, Endless(), {}));
    EXPECT_THROW(simulate(program, Endless()), InputError);
}

}  // namespace
}  // namespace debubble::sim
