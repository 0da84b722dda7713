#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "schedule/replay/replay.h"
#include "schedule/standstill.h"
#include "sim/cost/abstract_cost_model.h"
#include "sim/engine/simulate.h"

/// Where nothing contends, the event simulation is the longest path. The replay
/// computes that path from the compute-only schedule by other means.
namespace debubble::sim {
namespace {

using Case = std::tuple<Generator, PipelineShape>;

class EveryGenerator : public testing::TestWithParam<Case> {};

/// The link delay stays below every op, so that no receive is posted too late;
/// every cost can be cut into the slices of a sequence.
PipelineCosts random_costs(std::mt19937& random, int stages) {
    std::uniform_int_distribution<int> op(1000, 9000);
    PipelineCosts costs;
    const auto cost = [&] { return 8 * Duration{op(random)}; };
    for (int s = 0; s < stages; ++s) costs.stages.push_back({cost(), cost(), cost()});
    costs.link = Duration{std::uniform_int_distribution<int>(0, 100)(random)};
    return costs;
}

TEST_P(EveryGenerator, IsPlayedAlongItsLongestPath) {
    const auto& [generator, shape] = GetParam();
    std::mt19937 random(42);
    for (int repetition = 0; repetition < 3; ++repetition) {
        GeneratorOptions options;
        const Schedule schedule = generator.make(shape, options);
        const PipelineCosts costs = random_costs(random, schedule.stage_count());
        LowerOptions lowering;
        lowering.optimizer = OptimizerPlacement::None;
        const Program program = lower(schedule, lowering);
        const Simulation played = simulate(program, AbstractCostModel(costs, shape.slices));
        EXPECT_EQ(played.step_ends.front().time_since_epoch(), replay(schedule, costs).makespan);
    }
}

/// Where messages share streams too, which schedule/streams.cpp plays by other means.
TEST_P(EveryGenerator, IsPlayedAlongItsLongestPathOnSharedStreams) {
    const auto& [generator, shape] = GetParam();
    std::mt19937 random(43);
    const Schedule schedule = generator.make(shape, {});
    const PipelineCosts costs = random_costs(random, schedule.stage_count());
    for (const Transport transport : {Transport::Pair, Transport::Group, Transport::Batched}) {
        SCOPED_TRACE(name_of(transport));
        LowerOptions lowering;
        lowering.optimizer = OptimizerPlacement::None;
        lowering.transport = transport;
        const Program program = lower(schedule, lowering);
        SimulateOptions how;
        how.header.transport = transport;
        const Trace trace = simulate(program, AbstractCostModel(costs, shape.slices), how).trace;
        Instant last{};
        for (const Span& span : trace.spans)
            if (span.lane == Lane::Compute) last = std::max(last, span.end);
        EXPECT_EQ(last.time_since_epoch(), makespan_on_streams(program, transport, costs));
    }
}

/// Ranks and actions with how often they come, whatever their order.
std::multiset<std::pair<int, std::string>> actions_of(const Program& program) {
    std::multiset<std::pair<int, std::string>> actions;
    for (int rank = 0; rank < program.shape.ranks; ++rank)
        for (const Action& action : program.ranks[static_cast<std::size_t>(rank)])
            actions.emplace(rank, to_text(action));
    return actions;
}

std::multiset<std::pair<int, std::string>> actions_of(const Trace& trace) {
    std::multiset<std::pair<int, std::string>> actions;
    for (const Span& span : trace.spans) actions.emplace(span.rank.index, to_text(span.action));
    return actions;
}

/// Equal costs and free links let many actions begin at one instant, and a Send with its Recv.
TEST_P(EveryGenerator, HasOneSpanOfEveryAction) {
    const auto& [generator, shape] = GetParam();
    const Program program = lower(generator.make(shape, {}), {});
    const AbstractCostModel costs(unit_costs(Duration{8000}), shape.slices);
    const Trace trace = simulate(program, costs).trace;
    EXPECT_EQ(actions_of(trace), actions_of(program));
    EXPECT_TRUE(std::ranges::is_sorted(trace.spans, {}, &Span::begin));
}

std::vector<Case> possible_cases() {
    std::vector<Case> cases;
    for (const Generator& generator : generators())
        for (const PipelineShape& shape :
             {PipelineShape{1, 1, 3}, PipelineShape{2, 1, 4}, PipelineShape{4, 1, 8},
              PipelineShape{4, 2, 8}, PipelineShape{4, 1, 8, 2}, PipelineShape{8, 2, 16},
              PipelineShape{8, 1, 32}, PipelineShape{4, 3, 12}})
            if (!generator.why_not(shape, {})) cases.emplace_back(generator, shape);
    return cases;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
    const auto& [generator, shape] = info.param;
    std::string name(generator.name);
    std::ranges::replace(name, '-', '_');
    return name + "_" + std::to_string(shape.ranks) + "ranks_" +
           std::to_string(shape.stages_per_rank) + "stages_" + std::to_string(shape.micro_batches) +
           "mb_" + std::to_string(shape.slices) + "slices";
}

INSTANTIATE_TEST_SUITE_P(AllShapes, EveryGenerator, testing::ValuesIn(possible_cases()), case_name);

}  // namespace
}  // namespace debubble::sim
