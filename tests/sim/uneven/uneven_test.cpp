#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "scenarios/plan/derived.h"
#include "scenarios/plan/plan.h"
#include "scenarios/read/read_scenario.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "sim/cost/abstract_cost_model.h"
#include "sim/cost/physical_models.h"
#include "sim/plan/plan_bound.h"
#include "sim/predict.h"
#include "sim/report/report.h"
#include "sim/uneven/uneven_steps.h"
#include "tests/sim/scenarios.h"

namespace debubble::sim {
namespace {

using scenarios::Scenario;
using testing::HasSubstr;
using testing::Not;

Scenario mixtral(const std::vector<scenarios::Override>& more) {
    std::vector<scenarios::Override> keys{{"training.global_batch", "128"}};
    keys.insert(keys.end(), more.begin(), more.end());
    return scenarios::read_scenario("mixtral-8x22b", keys);
}

const std::vector<scenarios::Override> kEverything{{"imbalance.router.spread", "0.3"},
                                                   {"imbalance.sequence.mean", "700"},
                                                   {"imbalance.ranks.3", "1.1"},
                                                   {"imbalance.jitter", "0.05"},
                                                   {"imbalance.draws", "9"}};

/// 1F1B of whole milliseconds: F takes 1, B takes 2 where no rank is slow.
struct Abstract {
    Abstract(int ranks, int micro_batches) : scenario(gpt_job(1, 1, ranks)) {
        scenario.training.micro_batches = micro_batches;
        schedule = generate("1f1b", {ranks, 1, micro_batches, 1}, {});
        program = lower(schedule, {});
        PipelineCosts prices;
        prices.stages.assign(static_cast<std::size_t>(ranks),
                             {std::chrono::milliseconds(1), std::chrono::milliseconds(2), {}});
        costs = std::make_unique<AbstractCostModel>(prices, 1);
    }
    UnevenSteps play(int jobs = 1) const {
        const LoadCurves curves = curves_of();
        return play_draws(curves, curves.even(), program, {}, jobs);
    }
    LoadCurves curves_of() const {
        const std::vector<models::StageContent> stages(program.shape.ranks);
        return {scenario, stages, schedule, program, *costs};
    }

    Scenario scenario;
    Schedule schedule;
    Program program;
    std::unique_ptr<CostModel> costs;
};

double milliseconds_of(Duration time) {
    return 1e3 * seconds(time);
}

TEST(UnevenLoads, WithoutVarianceCostWhatTheEvenRunDoesToTheBit) {
    const Scenario even = mixtral({});
    const Scenario same = mixtral({{"imbalance.router.loads", "[1.0]"},
                                   {"imbalance.sequence", "{mean: 4096, spread: 0}"},
                                   {"imbalance.ranks.2", "1"},
                                   {"imbalance.draws", "3"}});
    ASSERT_TRUE(same.imbalance.any());
    const PredictionWithTrace a = predict(even);
    const PredictionWithTrace b = predict(same);
    EXPECT_EQ(a.trace.spans, b.trace.spans);
    EXPECT_EQ(a.trace.memory, b.trace.memory);
    EXPECT_EQ(a.statistics.bubbles, b.statistics.bubbles);
    EXPECT_EQ(report_json(a)["ranks"], report_json(b)["ranks"]);
    ASSERT_TRUE(b.prediction.uneven);
    EXPECT_EQ(b.prediction.uneven->even_s, a.prediction.step_time_s);
    EXPECT_EQ(b.prediction.uneven->p95_s, a.prediction.step_time_s);
    EXPECT_FALSE(a.prediction.uneven);
    EXPECT_THAT(report_json(a).dump(), Not(HasSubstr("uneven")));
}

/// The slow rank works without a pause between its first B and its last F; what is before and after
/// waits for ranks that are not slow.
TEST(UnevenLoads, OfASlowRankLengthenOneFOneBByItsClosedForm) {
    for (const int p : {2, 4, 7})
        for (const int m : {p, p + 3, 4 * p})
            for (int rank = 0; rank < p; ++rank)
                for (const double factor : {1.0, 1.01, 1.25}) {
                    Abstract job(p, m);
                    job.scenario.imbalance.ranks = {{rank, factor}};
                    const double growth = (m - p + 1 + rank) * 3 * (factor - 1);
                    const UnevenSteps steps = job.play();
                    EXPECT_NEAR(milliseconds_of(steps.drawn.front()), (m + p - 1) * 3 + growth,
                                1e-6)
                        << p << " ranks, " << m << " microbatches, rank " << rank;
                    EXPECT_NEAR(1e3 * steps.even_s, (m + p - 1) * 3, 1e-9);
                    if (factor == 1) continue;
                    ASSERT_EQ(steps.slow.size(), 1u);
                    EXPECT_NEAR(steps.slow[0].cost, growth / ((m + p - 1) * 3), 1e-6);
                }
}

TEST(UnevenLoads, AreTheSameOnAnyNumberOfThreadsAndOthersByAnotherSeed) {
    Abstract job(4, 16);
    job.scenario.imbalance.jitter = 0.2;
    job.scenario.imbalance.draws = 50;
    const std::vector<Duration> once = job.play(1).drawn;
    for (const int jobs : {2, 7}) EXPECT_EQ(job.play(jobs).drawn, once) << jobs;
    EXPECT_THAT(once, testing::Contains(Not(once.front())));
    job.scenario.imbalance.seed = 2;
    EXPECT_NE(job.play().drawn, once);
}

TEST(UnevenLoads, OnlyLengthenTheStepWhereARankIsSlower) {
    Abstract job(4, 12);
    job.scenario.imbalance.jitter = 0.3;
    job.scenario.imbalance.draws = 20;
    std::vector<Duration> before(20);
    for (const double factor : {1.0, 1.02, 1.3, 2.0, 5.0}) {
        job.scenario.imbalance.ranks = {{1, factor}};
        const std::vector<Duration> now = job.play().drawn;
        for (std::size_t i = 0; i < now.size(); ++i) EXPECT_GE(now[i], before[i]) << factor;
        before = now;
    }
}

TEST(UnevenLoads, LeaveNoNanosecondOfAStepUnaccounted) {
    const PredictionWithTrace answer = predict(mixtral(kEverything));
    Duration blamed{};
    for (const RankStatistics& rank : answer.statistics.ranks) {
        EXPECT_EQ(rank.busy + rank.exposed + rank.optimizer + rank.idle, answer.statistics.step);
        Duration idle{};
        for (const Duration part : rank.idle_by_cause) {
            EXPECT_GE(part, Duration{});
            idle += part;
        }
        EXPECT_EQ(idle, rank.idle);
        blamed += rank.idle_by_cause[static_cast<std::size_t>(BubbleCause::UnevenLoad)];
    }
    EXPECT_GT(blamed, Duration{});
    Duration of_bubbles{};
    for (const Bubble& bubble : answer.statistics.bubbles) {
        EXPECT_LT(bubble.begin, bubble.end);
        if (bubble.cause == BubbleCause::UnevenLoad) of_bubbles += bubble.end - bubble.begin;
    }
    EXPECT_EQ(of_bubbles, blamed);
    EXPECT_EQ(answer.prediction.step_time_s, answer.prediction.uneven->p50_s);
    EXPECT_LE(answer.prediction.uneven->p50_s, answer.prediction.uneven->p95_s);
}

/// The slow last rank waits for no one longer than before. The first rank waits for others before
/// its first B and between its last ones too, and all that it waits for longer is blamed.
TEST(UnevenLoads, AreBlamedForTheWaitsThatASlowRankCauses) {
    constexpr int kPipeline = 3;
    constexpr int kPerStep = 9;
    Abstract job(kPipeline, kPerStep);
    job.scenario.imbalance.ranks = {{kPipeline - 1, 1.1}};
    const LoadCurves curves = job.curves_of();
    const UnevenCostModel slow(curves, DrawnPipeline{});
    const Trace trace = simulate(job.program, slow).trace;
    const Trace even_trace = simulate(job.program, *job.costs).trace;
    const Statistics plain = statistics(trace);
    const Statistics even = statistics(even_trace);
    Statistics blamed = plain;
    blame_uneven_loads(blamed, trace, even, even_trace);
    const auto idle = [](const RankStatistics& rank, BubbleCause cause) {
        return rank.idle_by_cause[static_cast<std::size_t>(cause)];
    };
    for (std::size_t rank = 0; rank < kPipeline; ++rank) {
        const Duration uneven = idle(blamed.ranks[rank], BubbleCause::UnevenLoad);
        EXPECT_EQ(uneven + idle(blamed.ranks[rank], BubbleCause::OtherStage),
                  idle(plain.ranks[rank], BubbleCause::OtherStage));
        if (rank == kPipeline - 1) {
            EXPECT_EQ(uneven, Duration{});
        }
    }
    EXPECT_NEAR(milliseconds_of(idle(blamed.ranks[0], BubbleCause::UnevenLoad)), kPerStep * 3 * 0.1,
                1e-6);
    Statistics of_even = even;
    blame_uneven_loads(of_even, even_trace, even, even_trace);
    EXPECT_EQ(of_even.bubbles, even.bubbles);
}

TEST(UnevenLoads, HaveTheMeanAndTheSpreadThatTheyAreDrawnBy) {
    Scenario scenario = mixtral({{"imbalance.jitter", "0.25"},
                                 {"imbalance.router.spread", "0.25"},
                                 {"training.expert_load", "4"}});
    const Draw draw(scenario, {});
    constexpr int kCount = 100'000;
    const auto moments = [&](const auto& at) {
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < kCount; ++i) {
            const double x = at(i);
            sum += x;
            squares += x * x;
        }
        const double mean = sum / kCount;
        return std::pair(mean, std::sqrt(squares / kCount - mean * mean) / mean);
    };
    const auto [mean, spread] = moments([&](int i) {
        return draw.jitter(Rank{0}, {Pass::Forward, Stage{0}, MicroBatch{i, {}}}, 0);
    });
    EXPECT_NEAR(mean, 1, 0.005);
    EXPECT_NEAR(spread, 0.25, 0.005);
    const auto [load, of_load] = moments([&](int i) { return draw.load(i % 100, i / 100); });
    EXPECT_NEAR(load, 4, 0.02);
    EXPECT_NEAR(of_load, 0.25, 0.005);
}

TEST(UnevenLoads, OfTwoDocumentsToASequenceHaveHalfThePairsOfTokens) {
    const Scenario scenario = mixtral({{"imbalance.sequence", "{mean: 2048, spread: 0}"}});
    const Draw draw(scenario, {});
    EXPECT_EQ(draw.attended(0), 0.5);
    EXPECT_EQ(Draw(mixtral({{"imbalance.sequence", "{mean: 1536, spread: 0}"}}), {3}).attended(1),
              (2 * 1536.0 * 1536 + 1024.0 * 1024) / (4096.0 * 4096));
}

/// Where a load was priced, the curve gives the price that a whole plan of that load has.
TEST(UnevenLoads, CostWhatAPlanOfThatLoadCosts) {
    for (const auto& [key, value, load] : std::vector<std::tuple<std::string, std::string, double>>{
             {"imbalance.router.loads", "[1.5]", 1.5},
             {"imbalance.sequence", "{mean: 1024, spread: 0}", 0.25}}) {
        Scenario scenario = mixtral({{key, value}});
        scenario.training.expert_load = 1;  // not the mean of the listed ones
        const scenarios::Plan plan = scenarios::make_plan(scenario);
        const auto even = make_cost_model(scenario, plan.stages, plan.schedule);
        const LoadCurves curves(scenario, plan.stages, plan.schedule, plan.program, *even);
        const UnevenCostModel drawn(curves, DrawnPipeline{});
        Scenario loaded = scenario;
        if (load > 1) loaded.training.expert_load = load;
        if (load < 1) {
            loaded.training.seq_length /= 4;
            loaded.training.micro_batch *= 4;
        }
        const auto wanted = make_cost_model(loaded, plan.stages, plan.schedule);
        for (const Pass pass : {Pass::Forward, Pass::Backward}) {
            const Compute compute{pass, Stage{2}, MicroBatch{1, {}}};
            EXPECT_NEAR(seconds(drawn.compute(compute, Rank{2}).duration),
                        seconds(wanted->compute(compute, Rank{2}).duration), 2e-8)
                << key;
            EXPECT_NE(wanted->compute(compute, Rank{2}).duration,
                      even->compute(compute, Rank{2}).duration);
        }
    }
}

TEST(UnevenLoads, AreSaidInTheReport) {
    const Scenario scenario = mixtral(kEverything);
    const PredictionWithTrace answer = predict(scenario);
    const std::string text = report_text(scenario, answer);
    EXPECT_THAT(text, HasSubstr("of 9 drawn steps"));
    EXPECT_THAT(text, HasSubstr("rank 3 costs"));
    EXPECT_THAT(text, HasSubstr("idle: uneven load"));
    const auto json = report_json(answer)["uneven_loads"];
    EXPECT_EQ(json["draws"], 9);
    EXPECT_EQ(json["slow_ranks"][0]["rank"], 3);
    EXPECT_GT(json["p50_step_time_s"], json["slow_ranks"][0]["step_without_s"]);
}

TEST(UnevenLoads, HaveQuantilesByTheNearestRank) {
    std::vector<Duration> steps;
    for (int i = 100; i >= 1; --i) steps.push_back(Duration{i});
    EXPECT_EQ(quantile(steps, 0.5), Duration{50});
    EXPECT_EQ(quantile(steps, 0.95), Duration{95});
    EXPECT_EQ(quantile(steps, 0), Duration{1});
    EXPECT_EQ(quantile({Duration{7}}, 0.95), Duration{7});
}

/// Long sequences, most of whose FLOPs are attention's, and short documents in them.
Scenario long_sequences(const std::string& sequence) {
    return scenarios::parse_scenario(
        "model: {base: llama2-7b, max_positions: 65536}\ncluster: hgx-h100\ngpus: 16\n"
        "parallel: {context: 8, zero_stage: 1}\n"
        "training: {global_batch: 16, micro_batch: 1, seq_length: 65536, recompute: full}\n"
        "imbalance: {draws: 10, sequence: {" +
            sequence + "}}\n",
        "long.yaml");
}

TEST(UnevenLoads, AreEvenWhereAllSequencesHaveTheMeanPairsOfTokens) {
    const Scenario drawn = long_sequences("mean: 4096, spread: 2");
    const UnevenSteps steps = *predict(drawn).prediction.uneven;
    const auto [least, most] = std::ranges::minmax(steps.drawn);
    EXPECT_GT(steps.even_s, seconds(least));
    EXPECT_LT(steps.even_s, seconds(most));
    EXPECT_NEAR(steps.even_s / steps.mean_s(), 1, 0.07)
        << "kernels take a little longer than in proportion to pairs where documents are short";
    const Prediction even = predict(drawn, {.keep_trace = false, .draw_loads = false}).prediction;
    EXPECT_EQ(even.step_time_s, steps.even_s) << "grids compare plans by it";
    EXPECT_LE(bound_of(drawn).step_time_s, even.step_time_s);

    const Scenario equal = long_sequences("mean: 16384, spread: 0");
    const Prediction four = predict(equal).prediction;
    EXPECT_NEAR(four.uneven->even_s, four.step_time_s, 1e-9);
    Scenario quarter = equal;
    quarter.imbalance = {};
    quarter.training.seq_length /= 4;
    quarter.training.micro_batch *= 4;
    quarter.training.global_batch *= 4;
    EXPECT_NEAR(four.step_time_s / predict(quarter).prediction.step_time_s, 1, 1e-3);
}

TEST(UnevenLoads, CountTheFlopsOfTheDocumentsThatAreDrawn) {
    for (const bool draw : {true, false}) {
        const Scenario drawn = long_sequences("mean: 4096, spread: 2");
        const Prediction p = predict(drawn, {.keep_trace = false, .draw_loads = draw}).prediction;
        EXPECT_LT(*p.hfu, 0.8) << "of the peak rate";
        EXPECT_GT(*p.mfu, 0.2);
        const Scenario equal = long_sequences("mean: 16384, spread: 0");
        Scenario quarter = equal;
        quarter.imbalance = {};
        quarter.training.seq_length /= 4;
        const Prediction four =
            predict(equal, {.keep_trace = false, .draw_loads = draw}).prediction;
        EXPECT_NEAR(four.tflops_per_gpu * 1e12 * 16 * four.step_time_s,
                    4 * scenarios::model_flops_per_step(quarter),
                    1e-9 * scenarios::model_flops_per_step(equal));
    }
}

}  // namespace
}  // namespace debubble::sim
