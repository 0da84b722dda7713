#include "sim/memory/alike_ranks.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/overloaded.h"
#include "models/partition/partition.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "sim/cost/physical_models.h"
#include "sim/engine/simulate.h"
#include "sim/memory/memory_events.h"
#include "sim/memory/memory_play.h"
#include "tests/sim/scenarios.h"

namespace debubble::sim {
namespace {

/// True if the lists' actions are of the same kinds in turn.
bool same_kinds(const Program& program, int a, int b) {
    return std::ranges::equal(
        program.ranks[static_cast<std::size_t>(a)], program.ranks[static_cast<std::size_t>(b)],
        [](const Action& x, const Action& y) { return x.index() == y.index(); });
}

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

    std::vector<std::vector<ActionTimes>> times() const {
        const auto prices = std::make_shared<const SchedulePrices>(scenario, stages, program);
        return simulate(program, *make_cost_model(prices), *make_memory_model(prices)).times;
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
                const auto times = job.times();
                const std::vector<Bytes> reserved =
                    play_reserved(job.scenario, job.stages, job.program, times);
                ASSERT_EQ(reserved.size(), 8U);
                ++jobs;
                for (int r = 0; r < 8; ++r)
                    EXPECT_EQ(reserved[static_cast<std::size_t>(r)],
                              play_memory(job.scenario, job.stages, job.program, Rank{r},
                                          times[static_cast<std::size_t>(r)])
                                  .peak_reserved)
                        << generator.name << ", " << micro_batches << " microbatches, rank " << r;
            }
    EXPECT_GE(jobs, 20);
}

/// The place of a stage among those of its rank, which alike ranks share.
int place_of(const Program& program, Rank rank, Stage stage) {
    const auto stages = program.placement.stages_of(rank);
    return static_cast<int>(std::ranges::find(stages, stage) - stages.begin());
}

/// An event as words, its stages by their places.
std::string words_of(const Program& program, Rank rank, const MemoryEvent& event) {
    const auto pass = [&](const Compute& c) {
        return fmt::format("{} {} {}", static_cast<int>(c.pass), place_of(program, rank, c.stage),
                           to_text(c.micro_batch));
    };
    const auto moment = [](const Moment& m) {
        return fmt::format("{}.{}", m.action, static_cast<int>(m.edge));
    };
    return fmt::format("{} ", event.action) +
           std::visit(
               Overloaded{
                   [&](const Allocation& a) {
                       return fmt::format("allocate {} {} {} {}", moment(a.at),
                                          static_cast<int>(a.held), static_cast<int>(a.held_as),
                                          a.bytes.count);
                   },
                   [&](const Release& r) {
                       return fmt::format("release {} {} {}", moment(r.at),
                                          r.not_before ? moment(*r.not_before) : "-", r.allocation);
                   },
                   [&](const PassRuns& p) { return fmt::format("{} {}", pass(p.pass), p.again); },
                   [](const OptimizerRuns&) { return std::string("optimizer"); },
                   [&](const SavedLeaves& l) { return "leaves " + pass(l.forward); },
                   [&](const SavedReturns& b) { return "returns " + pass(b.forward); },
               },
               event.what);
}

std::vector<std::string> events_of(const DeepJob& job, const RankStages& stages, int rank) {
    std::vector<std::string> all;
    for (const MemoryEvent& event : memory_events(job.program, stages.index(), Rank{rank}, stages))
        all.push_back(words_of(job.program, Rank{rank}, event));
    return all;
}

TEST(AlikeRanks, HaveTheSameEventsForTheirStagesInTurnAndOthersDoNot) {
    int alike_ranks = 0;
    for (const Generator& generator : generators())
        for (const int chunks : {1, 2})
            for (const bool keeps : {false, true}) {
                if (generator.why_not({8, chunks, 8, 1}, {})) continue;
                DeepJob job(generator.name, 8, chunks);
                job.scenario.framework.keeps_messages = keeps;
                const RankStages stages(job.scenario, job.stages, job.program,
                                        RankStages::Names::OfOneAlike);
                for (int a = 0; a + 1 < 8; ++a) {
                    const bool alike = have_alike_events(job.program, stages.index(), stages,
                                                         Rank{a}, Rank{a + 1});
                    alike_ranks += alike;
                    const auto of_a = events_of(job, stages, a);
                    const auto of_b = events_of(job, stages, a + 1);
                    if (alike) {
                        EXPECT_EQ(of_a, of_b) << generator.name << ", rank " << a;
                    } else {
                        EXPECT_TRUE(of_a != of_b || !same_kinds(job.program, a, a + 1))
                            << generator.name << ", rank " << a;
                    }
                }
            }
    EXPECT_GE(alike_ranks, 20);
}

/// Of 1F1B with three microbatches all inner ranks with at least three ranks after them have one
/// list; the last ones have fewer forwards before their first backward, and either end has an
/// embedding.
TEST(AlikeRanks, AreTheInnerOnesOfADeepPipeline) {
    const DeepJob job("1f1b", 3);
    const RankStages stages(job.scenario, job.stages, job.program, RankStages::Names::OfOneAlike);
    for (int rank = 0; rank + 1 < 8; ++rank)
        EXPECT_EQ(asks_alike(stages, job.program, Rank{rank}, Rank{rank + 1}),
                  rank >= 1 && rank <= 4)
            << rank;
}

TEST(AlikeRanks, AreNoneWhereEachStageHasAGraphOfItsOwn) {
    const DeepJob job("1f1b", 3);
    const RankStages stages(job.scenario, job.stages, job.program, RankStages::Names::OfEachStage);
    EXPECT_FALSE(asks_alike(stages, job.program, Rank{2}, Rank{3}));
    EXPECT_TRUE(asks_alike(stages, job.program, Rank{2}, Rank{2}));
}

/// A neighbour that makes larger messages is not alike, though its list is.
TEST(AlikeRanks, AreNotThoseWhoseMessagesAreLarger) {
    class Growing : public MemoryModel {
    public:
        Bytes message(const Message& message) const override {
            return Bytes{message.producer.index < 4 ? 100 : 200};
        }
    };
    const DeepJob job("1f1b", 3);
    const PlacementIndex index(job.program.placement);
    for (int rank = 1; rank < 5; ++rank) {
        EXPECT_EQ(have_alike_events(job.program, index, Growing{}, Rank{rank}, Rank{rank + 1}),
                  rank == 1)
            << rank;
        EXPECT_TRUE(
            have_alike_events(job.program, index, MemoryModel{}, Rank{rank}, Rank{rank + 1}))
            << rank;
    }
}

}  // namespace
}  // namespace debubble::sim
