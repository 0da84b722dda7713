#include "sim/memory/alike_ranks.h"

#include <string_view>

#include <gtest/gtest.h>

#include "models/partition.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "sim/memory/memory_play.h"
#include "tests/sim/scenarios.h"

namespace debubble::sim {
namespace {

/// Eight ranks of two layers in each of their stages, and few microbatches.
struct DeepJob {
    explicit DeepJob(std::string_view name, int micro_batches, int chunks = 1)
        : program(lower(generate(name, {8, chunks, micro_batches, 1}), {})),
          scenario(gpt_job(2, 1, 8, 2 * program.stage_count())),
          stages(models::explicit_stages(
              std::vector<int>(static_cast<std::size_t>(program.stage_count()), 2),
              2 * program.stage_count(), program.stage_count())) {
        scenario.schedule.splits_backward = find_generator(name)->splits_backward;
    }

    Program program;
    scenarios::Scenario scenario;
    std::vector<models::StageContent> stages;
};

/// A rank that is played by itself reserves the same, whether its list is like its neighbour's or
/// not.
TEST(AlikeRanks, ReserveWhatEachOfThemDoesByItself) {
    int jobs = 0;
    for (const Generator& generator : generators())
        for (const int chunks : {1, 2})
            for (const int micro_batches : {3, 8, 16}) {
                if (generator.why_not({8, chunks, micro_batches, 1}, {})) continue;
                const DeepJob job(generator.name, micro_batches, chunks);
                const std::vector<Bytes> reserved =
                    play_reserved(job.scenario, job.stages, job.program);
                ASSERT_EQ(reserved.size(), 8U);
                ++jobs;
                for (int r = 0; r < 8; ++r)
                    EXPECT_EQ(
                        reserved[static_cast<std::size_t>(r)],
                        play_memory(job.scenario, job.stages, job.program, Rank{r}).peak_reserved)
                        << generator.name << ", " << micro_batches << " microbatches, rank " << r;
            }
    EXPECT_GE(jobs, 20);
}

/// Of 1F1B with three microbatches all inner ranks with at least three ranks after them have one
/// list; the last ones have fewer forwards before their first backward, and either end has an
/// embedding.
TEST(AlikeRanks, AreTheInnerOnesOfADeepPipeline) {
    const DeepJob job("1f1b", 3);
    const RankStages stages(job.scenario, job.stages, job.program, RankStages::Names::OfOneAlike);
    const auto events = [&](int rank) {
        return RankEvents{Rank{rank},
                          memory_events(job.program, stages.index(), Rank{rank}, stages)};
    };
    for (int rank = 0; rank + 1 < 8; ++rank)
        EXPECT_EQ(asks_alike(stages, job.program, events(rank), events(rank + 1)),
                  rank >= 1 && rank <= 4)
            << rank;
}

TEST(AlikeRanks, AreNoneWhereEachStageHasAGraphOfItsOwn) {
    const DeepJob job("1f1b", 3);
    const RankStages stages(job.scenario, job.stages, job.program, RankStages::Names::OfEachStage);
    const auto events = [&](int rank) {
        return RankEvents{Rank{rank},
                          memory_events(job.program, stages.index(), Rank{rank}, stages)};
    };
    EXPECT_FALSE(asks_alike(stages, job.program, events(2), events(3)));
    EXPECT_TRUE(asks_alike(stages, job.program, events(2), events(2)));
}

}  // namespace
}  // namespace debubble::sim
