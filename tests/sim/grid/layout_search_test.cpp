#include <algorithm>
#include <mutex>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"
#include "sim/grid/layout_search.h"

namespace debubble::sim {
namespace {

/// Of few layers, with a head that takes as long as several of them.
scenarios::Scenario pipeline_of(int layers, int ranks) {
    const char* const head = layers <= 10 ? "vocab: 200000, " : "";
    return scenarios::read_scenario("gpt2-xl-1f1b",
                                    {{"model", std::string("{base: gpt2-xl, ") + head +
                                                   "layers: " + std::to_string(layers) + "}"},
                                     {"parallel.pipeline", std::to_string(ranks)},
                                     {"gpus", std::to_string(ranks)},
                                     {"training.micro_batches", "8"},
                                     {"training.global_batch", "8"}});
}

/// Two stages of n layers have n + 1 cuts, which the test writes down itself.
TEST(LayoutSearch, FindsTheBestOfAllCutsOfASmallPipeline) {
    const scenarios::Scenario job = pipeline_of(10, 2);
    const LayoutSearch search = search_layouts(job, 2);
    EXPECT_TRUE(search.all);
    EXPECT_EQ(search.tried, 11u);
    double best = 1e9;
    for (int first = 0; first <= 10; ++first) {
        scenarios::Scenario one = job;
        one.parallel.partition = scenarios::Partition::Explicit;
        one.parallel.layers_per_stage = {first, 10 - first};
        best = std::min(best, predict(one, {.keep_trace = false}).prediction.step_time_s);
    }
    EXPECT_EQ(search.rows.back().prediction.step_time_s, best);
    EXPECT_LT(search.rows.back().layers_per_stage[1], 5) << "the head takes time too";
}

TEST(LayoutSearch, OfManyStagesIsNoWorseThanItsNeighboursAndItsStart) {
    const scenarios::Scenario job = pipeline_of(48, 8);
    const LayoutSearch search = search_layouts(job);
    ASSERT_EQ(search.rows.size(), 3u);
    EXPECT_FALSE(search.all);
    EXPECT_EQ(search.rows.front().layout, "Et*6|(t*6|)*6t*6L");
    const LayoutRow& best = search.rows.back();
    EXPECT_EQ(std::reduce(best.layers_per_stage.begin(), best.layers_per_stage.end()), 48);
    for (const LayoutRow& row : search.rows)
        EXPECT_LE(best.prediction.step_time_s, row.prediction.step_time_s) << row.name;
    for (std::size_t to = 1; to < best.layers_per_stage.size(); ++to) {
        scenarios::Scenario moved = job;
        moved.parallel.partition = scenarios::Partition::Explicit;
        moved.parallel.layers_per_stage = best.layers_per_stage;
        --moved.parallel.layers_per_stage[0];
        ++moved.parallel.layers_per_stage[to];
        EXPECT_GE(predict(moved, {.keep_trace = false}).prediction.step_time_s,
                  best.prediction.step_time_s);
    }
    EXPECT_EQ(search_layouts(job, 1).rows.back().layers_per_stage, best.layers_per_stage);
}

TEST(LayoutSearch, PutsFewerLayersWhereThereIsLessMemory) {
    scenarios::Scenario job = pipeline_of(10, 2);
    const LayoutRow free = search_layouts(job).rows.back();
    job.cluster.gpu.memory = job.cluster.gpu.memory - free.prediction.memory_left - Bytes{1};
    const LayoutRow tight = search_layouts(job).rows.back();
    EXPECT_NE(tight.layers_per_stage, free.layers_per_stage);
    EXPECT_GE(tight.prediction.step_time_s, free.prediction.step_time_s);
}

std::size_t bytes_too_much(const Prediction& p) {
    return static_cast<std::size_t>(-p.memory_left.count);
}

/// Two stages of n layers have n + 1 cuts: the test plays them itself.
TEST(LayoutSearch, GivesNoTimeForMemoryThatIsTooLittleAnyway) {
    scenarios::Scenario job = pipeline_of(10, 2);
    job.cluster.gpu.memory = Bytes{1 << 30};
    const LayoutSearch search = search_layouts(job);
    EXPECT_FALSE(search.fits);
    ASSERT_EQ(search.rows.size(), 4u);
    const LayoutRow& fastest = search.rows[2];
    const LayoutRow& smallest = search.rows[3];
    EXPECT_EQ(fastest.name, "fastest");
    EXPECT_EQ(smallest.name, "smallest");
    for (int first = 0; first <= 10; ++first) {
        scenarios::Scenario one = job;
        one.parallel.partition = scenarios::Partition::Explicit;
        one.parallel.layers_per_stage = {first, 10 - first};
        const Prediction p = predict(one, {.keep_trace = false}).prediction;
        EXPECT_GE(p.step_time_s, fastest.prediction.step_time_s);
        EXPECT_GE(bytes_too_much(p), bytes_too_much(smallest.prediction));
    }
    EXPECT_LT(bytes_too_much(smallest.prediction), bytes_too_much(fastest.prediction));
    EXPECT_LT(fastest.prediction.step_time_s, smallest.prediction.step_time_s);
}

TEST(LayoutSearch, MovesToTheFastestAndToTheSmallestWhereNoneFits) {
    scenarios::Scenario job = pipeline_of(48, 8);
    job.cluster.gpu.memory = Bytes{1 << 30};
    const LayoutSearch search = search_layouts(job);
    EXPECT_FALSE(search.all);
    EXPECT_FALSE(search.fits);
    ASSERT_EQ(search.rows.size(), 4u);
    for (const LayoutRow& row : search.rows) {
        EXPECT_LE(search.rows[2].prediction.step_time_s, row.prediction.step_time_s) << row.name;
        EXPECT_LE(bytes_too_much(search.rows[3].prediction), bytes_too_much(row.prediction))
            << row.name;
    }
    EXPECT_LT(bytes_too_much(search.rows[3].prediction), bytes_too_much(search.rows[0].prediction));
}

TEST(LayoutSearch, CountsTheCutsThatArePlayed) {
    std::size_t most = 0;
    std::mutex mutex;
    LayoutProgress progress;
    progress.tried = [&](std::size_t tried) {
        const std::lock_guard lock(mutex);
        most = std::max(most, tried);
    };
    EXPECT_EQ(search_layouts(pipeline_of(10, 2), 2, progress).tried, most);
}

TEST(LayoutSearch, NeedsSeveralStages) {
    EXPECT_THROW(search_layouts(pipeline_of(10, 1)), InputError);
}

}  // namespace
}  // namespace debubble::sim
