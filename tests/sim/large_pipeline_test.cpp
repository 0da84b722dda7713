#include <gmock/gmock.h>

#include "scenarios/plan/plan.h"
#include "schedule/generators/generators.h"
#include "sim/plan/plan_bound.h"
#include "sim/predict.h"
#include "tests/sim/scenarios.h"

/// What a pipeline of many ranks costs. Counted in entries of its placement that are looked at,
/// since seconds are the machine's.
namespace debubble::sim {
namespace {

template <class Work>
std::int64_t entries_read_by(const Work& work) {
    const std::int64_t before = placement_entries_read();
    work();
    return placement_entries_read() - before;
}

scenarios::Scenario large(int ranks, const char* schedule, int stages_per_rank) {
    scenarios::Scenario scenario = gpt_job(1, 2, ranks, ranks * stages_per_rank);
    scenario.parallel.stages_per_rank = stages_per_rank;
    scenario.parallel.zero_stage = 2;
    scenario.schedule.name = schedule;
    const Generator& generator = *find_generator(schedule);
    scenario.schedule.splits_backward = generator.splits_backward;
    scenario.training.micro_batches = 2 * ranks;
    scenario.training.global_batch = 4 * ranks;
    return scenario;
}

/// A plan is looked at from a fixed number of sides, each of which goes over all entries.
constexpr int kMostLooks = 60;

class LargePipeline : public testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(LargePipeline, IsPlannedAndPredictedInAFixedNumberOfLooksAtItsPlacement) {
    const auto [schedule, stages_per_rank] = GetParam();
    for (const int ranks : {8, 64}) {
        const scenarios::Scenario scenario = large(ranks, schedule, stages_per_rank);
        const std::int64_t entries = std::int64_t{ranks} * std::max(stages_per_rank, 2);
        EXPECT_LE(entries_read_by([&] { predict(scenario); }), kMostLooks * entries);
        EXPECT_LE(entries_read_by([&] { bound_of(scenario); }), kMostLooks * entries);
    }
}

TEST_P(LargePipeline, IsValidatedInAFixedNumberOfLooksAtItsPlacement) {
    const auto [schedule, stages_per_rank] = GetParam();
    for (const int ranks : {8, 64}) {
        const scenarios::Scenario scenario = large(ranks, schedule, stages_per_rank);
        const scenarios::Plan plan = scenarios::make_plan(scenario);
        const std::int64_t entries = std::int64_t{ranks} * std::max(stages_per_rank, 2);
        EXPECT_LE(entries_read_by([&] { EXPECT_TRUE(validate(plan.program).empty()); }),
                  kMostLooks * entries);
        Program empty = plan.program;
        for (ActionList& list : empty.ranks) list.clear();
        EXPECT_LE(entries_read_by([&] { EXPECT_FALSE(validate(empty).empty()); }),
                  kMostLooks * entries);
    }
}

INSTANTIATE_TEST_SUITE_P(Schedules, LargePipeline,
                         testing::Values(std::pair{"1f1b", 1}, std::pair{"zb-h1", 1},
                                         std::pair{"interleaved-1f1b", 4}, std::pair{"v-half", 2},
                                         std::pair{"chimera", 1}, std::pair{"dualpipe", 1}),
                         [](const auto& test) {
                             std::string name = test.param.first;
                             std::erase(name, '-');
                             return name;
                         });

/// Small enough to be looked through, so that both ways of asking can be compared.
TEST(PlacementIndex, AnswersAsThePlacementDoes) {
    const Placement odd{{{Stage{2}, Stage{0}}, {}, {Stage{1}, Stage{2}}}};
    for (const Placement& placement :
         {loop_placement(3, 4), v_placement(5), bidirectional_placement(6), odd}) {
        const PlacementIndex index(placement);
        ASSERT_EQ(index.stage_count(), placement.stage_count());
        std::size_t entry = 0;
        bool several = false;
        for (Rank rank{0}; rank.index < placement.ranks(); ++rank.index) {
            EXPECT_EQ(index.first_of(rank), entry);
            for (const Stage stage : placement.stages_of(rank))
                EXPECT_EQ(index.entry_of(rank, stage), entry++);
        }
        EXPECT_EQ(index.size(), entry);
        for (Stage stage{0}; stage.index < index.stage_count(); ++stage.index) {
            const std::vector<Rank> holders = placement.ranks_of(stage);
            EXPECT_THAT(index.ranks_of(stage), testing::ElementsAreArray(holders));
            several |= holders.size() > 1;
        }
        EXPECT_EQ(index.has_several_holders(), several);
    }
}

}  // namespace
}  // namespace debubble::sim
