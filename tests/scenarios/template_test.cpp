#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::scenarios {
namespace {

std::vector<Override> some_point(int i) {
    constexpr const char* kSchedules[] = {"1f1b", "zb-h1", "gpipe",
                                          "{name: interleaved-1f1b, stages_per_rank: 2}"};
    return {{"parallel.tensor", std::to_string(1 << (i % 3))},
            {"training.micro_batch", std::to_string(1 << (i % 4))},
            {"schedule", kSchedules[i % 4]},
            {"model", i % 5 == 0 ? "gpt2-large" : "gpt2-xl-colossal"}};
}

/// Equal in all that a point can change.
void expect_same(const Scenario& a, const Scenario& b) {
    EXPECT_EQ(a.model, b.model);
    EXPECT_EQ(a.cluster, b.cluster);
    EXPECT_EQ(a.framework, b.framework);
    EXPECT_EQ(a.parallel, b.parallel);
    EXPECT_EQ(a.schedule.name, b.schedule.name);
    EXPECT_EQ(a.training.micro_batches, b.training.micro_batches);
    EXPECT_EQ(a.training.run, b.training.run);
    EXPECT_EQ(a.notes, b.notes);
}

const std::vector<Override> kUnbound{
    {"training.micro_batches", "~"}, {"training.global_batch", "192"}, {"parallel.data", "auto"}};

std::vector<Override> with_unbound(std::vector<Override> point) {
    point.insert(point.begin(), kUnbound.begin(), kUnbound.end());
    return point;
}

TEST(ScenarioTemplate, GivesWhatReadingTheFileAnewGives) {
    const ScenarioTemplate gpt2("gpt2-xl");
    for (int i = 0; i < 12; ++i) {
        const auto point = with_unbound(some_point(i));
        expect_same(gpt2.instantiate(point), read_scenario("gpt2-xl", point));
    }
}

TEST(ScenarioTemplate, MayBeUsedByManyThreadsAtOnce) {
    const ScenarioTemplate gpt2("gpt2-xl");
    std::atomic<int> good = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = t; i < 200 + t; ++i)
                good += gpt2.instantiate(with_unbound(some_point(i))).gpus == 8 ? 1 : 0;
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(good, 800);
}

TEST(ScenarioTemplate, RefusesAPointAndStaysUsable) {
    const ScenarioTemplate gpt2("gpt2-xl");
    EXPECT_THROW(gpt2.instantiate({{"parallel.tensor", "3"}}), InputError);
    EXPECT_THROW(gpt2.instantiate({{"modell", "gpt2"}}), InputError);
    EXPECT_EQ(gpt2.instantiate({}).gpus, 8);
}

}  // namespace
}  // namespace debubble::scenarios
