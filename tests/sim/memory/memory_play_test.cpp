#include "sim/memory/memory_play.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "models/partition/partition.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "sim/cost/physical_models.h"
#include "sim/engine/simulate.h"
#include "tests/schedule/with_offload.h"
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
    std::unique_ptr<MemoryModel> memory() const {
        return make_memory_model(std::make_shared<const SchedulePrices>(scenario, stages, program));
    }
    MemoryPeak summed() const {
        const auto costs = make_cost_model(scenario, stages, program);
        return simulate(program, *costs, *memory()).peaks.front();
    }
    MemoryByClass summed_static() const { return memory()->static_memory(Rank{0}); }
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

/// R after every F: the forward keeps its input only, the backward finds all of it again.
TEST(MemoryPlay, EqualsThemWhenAStageIsRunAgain) {
    Job job;
    job.stages = {{0, 3, true, false}, {3, 3, false, true}};
    job.program = generate("looped-bfs", {1, 2, 5, 1});
    const Bytes kept = total(job.summed().held);
    for (ActionList& list : job.program.ranks) {
        ActionList again;
        for (const Action& action : list) {
            const auto* c = std::get_if<Compute>(&action);
            if (c != nullptr && c->pass == Pass::Backward)
                again.emplace_back(Recompute{c->stage, c->micro_batch});
            again.push_back(action);
        }
        list = again;
    }
    job.program.ranks[0].push_back(OptimizerStep{});
    const Bytes static_level = total(job.summed_static());
    expect_same(job);
    // Ten stage microbatches were held; of nine, now, at most the input is.
    EXPECT_LT(2 * (total(job.summed().held) - static_level), kept - static_level);
}

TEST(MemoryPlay, EqualsThemWhenLayersAreGatheredInsidePasses) {
    for (const auto recompute : {models::Recompute::None, models::Recompute::Full}) {
        Job job;
        job.scenario = gpt_job(2, 4, 1, 6);
        job.scenario.framework.allocator = scenarios::AllocatorModel::Exact;
        job.scenario.parallel.zero_stage = 3;
        job.scenario.training.recompute = recompute;
        const Bytes gathered = job.played().peak_allocated;
        expect_same(job);
        job.scenario.parallel.wrap = scenarios::Wrap::Stage;  // and no Unshard in the program
        EXPECT_LT(job.played().peak_allocated, gathered);
    }
}

TEST(MemoryPlay, EqualsThemWhenStagesAreGatheredAndActivationsOffloaded) {
    for (const bool offload : {false, true})
        for (const int zero : {0, 3}) {
            if (!offload && zero == 0) continue;
            Job job;
            job.scenario = gpt_job(2, 4, 1, 6);
            job.scenario.framework.allocator = scenarios::AllocatorModel::Exact;
            // Copies that end beside the next compute, as the list of actions supposes.
            job.scenario.cluster.gpu.host_link = BytesPerSecond{25e12};
            job.scenario.parallel.zero_stage = zero;
            job.scenario.parallel.wrap = scenarios::Wrap::Stage;
            job.stages = {{0, 2, true, false}, {2, 2, false, false}, {4, 2, false, true}};
            LowerOptions options;
            options.zero_stage = zero;
            options.shard_by_stage = true;
            options.data_parallel = true;
            job.program = lower(generate("looped-bfs", {1, 3, 5, 1}), options);
            if (offload) job.program = with_offload(job.program);
            const MemoryPeak summed = job.summed();
            const Bytes less = total(summed.held) - job.played().peak_allocated;
            // A copy back begins beside the compute before it, by the clock.
            const Bytes saved = job.memory()->compute({Pass::Forward, Stage{2}, {}}).held_after;
            EXPECT_GE(less, Bytes{}) << zero;
            EXPECT_LE(less, offload ? saved : Bytes{}) << zero;
        }
}

bool overlaps(const Action& action) {
    return std::holds_alternative<Overlap>(action);
}

/// Message buffers come and go by the clock there and by the list here: a few may differ.
TEST(MemoryPlay, EqualsThemButForMessagesWithEveryGenerator) {
    for (const Generator& generator : generators()) {
        const int ranks = 4;
        for (const auto& [chunks, keeps] :
             {std::pair{1, false}, {1, true}, {2, false}, {2, true}, {3, false}, {3, true}}) {
            const PipelineShape shape{ranks, chunks, 8, 1};
            if (generator.why_not(shape, {})) continue;
            const Program program = lower(generate(generator.name, shape), {});
            scenarios::Scenario scenario = gpt_job(2, 1, ranks, 24);
            scenario.framework.allocator = scenarios::AllocatorModel::Exact;
            scenario.framework.keeps_messages = keeps;
            scenario.schedule.splits_backward = generator.splits_backward;
            const auto stages = models::explicit_stages(
                std::vector<int>(static_cast<std::size_t>(program.stage_count()),
                                 24 / program.stage_count()),
                24, program.stage_count());
            const auto prices = std::make_shared<const SchedulePrices>(scenario, stages, program);
            const auto memory = make_memory_model(prices);
            const auto peaks = simulate(program, *make_cost_model(prices), *memory).peaks;
            const Bytes message = memory->message({Message::Kind::Activation, Stage{0}, {}});
            for (int r = 0; r < ranks; ++r) {
                const auto played = play_memory(scenario, stages, program, Rank{r});
                const Bytes more = played.peak_allocated - total(peaks[r].held);
                const std::string where = fmt::format("{} rank {} {}", generator.name, r, keeps);
                EXPECT_LE(more.count, 3 * message.count) << where;
                // The engine adds up what two computes at once hold; here they take turns.
                if (!std::ranges::any_of(program.ranks[r], overlaps)) {
                    EXPECT_GE(more.count, -3 * message.count) << where;
                }
            }
            if (keeps) break;  // the first number of chunks that the generator takes is enough
        }
    }
}

TEST(MemoryPlay, ReservesTheSameOnEveryRankWithAndWithoutItsRecord) {
    for (const char* name : {"1f1b", "gpipe", "zb-h1"}) {
        const Program program = lower(generate(name, {4, 1, 8, 1}), {});
        scenarios::Scenario scenario = gpt_job(2, 1, 4, 24);
        scenario.schedule.splits_backward = find_generator(name)->splits_backward;
        const auto stages = models::explicit_stages({6, 6, 6, 6}, 24, 4);
        const auto prices = std::make_shared<const SchedulePrices>(scenario, stages, program);
        const auto times =
            simulate(program, *make_cost_model(prices), *make_memory_model(prices)).times;
        const std::vector<Bytes> reserved = play_reserved(scenario, stages, program, times);
        ASSERT_EQ(reserved.size(), 4U);
        for (int r = 0; r < 4; ++r)
            EXPECT_EQ(
                reserved[static_cast<std::size_t>(r)],
                play_memory(scenario, stages, program, Rank{r}, times[static_cast<std::size_t>(r)])
                    .peak_reserved)
                << name << " rank " << r;
    }
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
