#include "sim/memory_play.h"

#include <gmock/gmock.h>

#include "schedule/generators/generators.h"
#include "sim/physical_cost_model.h"
#include "sim/simulate.h"
#include "tests/sim/scenarios.h"

namespace debubble::sim {
namespace {

/// One rank, all layers; the program has computes and the optimizer only.
struct Job {
    scenarios::Scenario scenario = gpt_job(2, 1, 1, 6);
    std::vector<models::StageContent> stages{{0, 6, true, true}};
    Program program = generate("gpipe", {1, 1, 5, 1});

    Job() {
        scenario.framework.allocator = scenarios::AllocatorModel::Exact;
        program.ranks[0].push_back(OptimizerStep{});
    }
    MemoryPeak summed() const {
        const auto model = make_cost_model(scenario, stages, program);
        return simulate(program, *model).peaks.front();
    }
    PlayedMemory played() const { return play_memory(scenario, stages, program, Rank{0}); }
};

void expect_same(const Job& job) {
    const MemoryPeak summed = job.summed();
    const PlayedMemory played = job.played();
    EXPECT_EQ(played.peak_allocated, total(summed.held));
    EXPECT_EQ(played.peak_reserved, played.peak_allocated);
    EXPECT_EQ(played.at_peak, summed.held);
    EXPECT_EQ(played.action, summed.action);
    EXPECT_EQ(played.op, summed.op);
}

TEST(MemoryPlay, EqualsTheSummedPeaksForTheExactAllocator) {
    for (const char* schedule : {"gpipe", "1f1b"})
        for (const auto recompute :
             {models::Recompute::None, models::Recompute::Selective, models::Recompute::Full})
            for (const bool sequence : {false, true}) {
                Job job;
                job.program = generate(schedule, {1, 1, 5, 1});
                job.program.ranks[0].push_back(OptimizerStep{});
                job.scenario.training.recompute = recompute;
                job.scenario.parallel.sequence = sequence;
                expect_same(job);
            }
}

TEST(MemoryPlay, EqualsThemWhenTheBackwardIsSplit) {
    Job job;
    ActionList& list = job.program.ranks[0];
    list.clear();
    for (int mb = 0; mb < 4; ++mb) {
        list.push_back(Compute{Pass::Forward, Stage{0}, {mb, {}}});
        list.push_back(Compute{Pass::BackwardInput, Stage{0}, {mb, {}}});
        if (mb > 0) list.push_back(Compute{Pass::BackwardWeight, Stage{0}, {mb - 1, {}}});
    }
    list.push_back(Compute{Pass::BackwardWeight, Stage{0}, {3, {}}});
    expect_same(job);
}

TEST(MemoryPlay, EqualsThemWhenTheOptimizerIsThePeak) {
    Job job;
    job.scenario.framework.optimizer = scenarios::OptimizerKind::ForeachAdam;
    job.scenario.training.seq_length = 16;
    EXPECT_EQ(job.played().action, "OPTIMIZER_STEP");
    EXPECT_EQ(job.played().peak_allocated, total(job.summed().held));
}

TEST(MemoryPlay, EqualsThemWhenTheOnlyBackwardMakesTheGradients) {
    for (const int micro_batch : {1, 32}) {
        Job job;
        job.scenario.framework.main_grad_buffer = false;
        job.scenario.framework.optimizer = scenarios::OptimizerKind::ForeachAdam;
        job.scenario.training.micro_batches = 1;
        job.scenario.training.micro_batch = micro_batch;
        job.program = generate("gpipe", {1, 1, 1, 1});
        job.program.ranks[0].push_back(OptimizerStep{});
        // The loss's forward is fullest when there is much in flight; no gradient is there yet.
        EXPECT_EQ(job.played().action, micro_batch == 1 ? "OPTIMIZER_STEP" : "0F0");
        EXPECT_EQ(job.played().peak_allocated, total(job.summed().held));
    }
}

TEST(MemoryPlay, ReservesMoreThanItAllocatesWithACachingAllocator) {
    Job job;
    const Bytes exact = job.played().peak_allocated;
    job.scenario.framework.allocator = scenarios::AllocatorModel::PyTorchCaching;
    const PlayedMemory cached = job.played();
    EXPECT_GE(cached.peak_allocated, exact);
    EXPECT_LT(gib(cached.peak_allocated), 1.02 * gib(exact));
    EXPECT_GT(cached.peak_reserved, cached.peak_allocated);
    EXPECT_LT(gib(cached.peak_reserved), 1.2 * gib(cached.peak_allocated));
}

TEST(MemoryPlay, NamesTheLargestTensorsOfThePeak) {
    Job job;
    const PlayedMemory played = job.played();
    ASSERT_EQ(played.largest.size(), 10u);
    EXPECT_EQ(played.largest.front().name, "optimizer");
    EXPECT_TRUE(std::ranges::is_sorted(played.largest, std::greater{}, &HeldTensor::bytes));
    // The attention scores of five microbatches and six layers are behind the static level.
    EXPECT_THAT(played.largest.back().name, testing::HasSubstr("0F"));
}

TEST(MemoryPlay, PlaysOnlyWhatThePeakNeeds) {
    Job many;
    many.program = generate("1f1b", {1, 1, 2000, 1});
    Job few;
    few.program = generate("1f1b", {1, 1, 20, 1});
    EXPECT_EQ(many.played().peak_allocated, few.played().peak_allocated);
    EXPECT_EQ(many.played().peak_reserved, few.played().peak_reserved);
}

}  // namespace
}  // namespace debubble::sim
