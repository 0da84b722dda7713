#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "scenarios/plan/packing.h"
#include "scenarios/read/read_scenario.h"
#include "sim/cost/physical_models.h"
#include "sim/plan/plan_bound.h"
#include "sim/predict.h"
#include "sim/report/plan_json.h"
#include "sim/report/report.h"
#include "sim/uneven/packed_steps.h"

/// Documents that every step packs again, for groups of the sizes that they need and for groups of
/// one size.
namespace debubble::sim {
namespace {

using scenarios::Scenario;
using testing::HasSubstr;

/// Eight GPUs; `parallel` and the rest are parts of YAML.
Scenario packed_job(const std::string& parallel, const std::string& training,
                    const std::string& sequence, const std::string& more = "") {
    return scenarios::parse_scenario(
        fmt::format("model: {{base: llama3.1-8b, layers: 8}}\ncluster: hgx-h100\ngpus: 8\n"
                    "parallel: {{{}}}\ntraining: {{micro_batch: 1, {}}}\n{}",
                    parallel, training,
                    sequence.empty() ? ""
                                     : fmt::format("imbalance: {{sequence: {{{}}}, draws: 12{}}}\n",
                                                   sequence, more)),
        "packed.yaml");
}

const std::string kDynamic = "dynamic_context_parallel: true, zero_stage: 1";

TEST(PackedSteps, OfDocumentsThatFillARankAreDataParallelOnesToTheBit) {
    for (const char* pipeline : {"1", "2"}) {
        const std::string p = fmt::format("pipeline: {}, ", pipeline);
        const Scenario dynamic =
            packed_job(p + "context: 2, " + kDynamic, "global_batch: 32, seq_length: 16384",
                       "mean: 8192, spread: 0");
        const Scenario plain =
            packed_job(p + "zero_stage: 1", "global_batch: 64, seq_length: 8192", "");
        const Prediction a = predict(dynamic).prediction;
        const Prediction b = predict(plain).prediction;
        EXPECT_EQ(a.step_time_s, b.step_time_s) << pipeline;
        EXPECT_EQ(a.uneven->p95_s, b.step_time_s);
        EXPECT_EQ(a.uneven->even_s, b.step_time_s);
        EXPECT_EQ(a.uneven->packed->waiting, 0);
        EXPECT_EQ(a.uneven->packed->filled, 1);
        EXPECT_THAT(a.uneven->packed->groups, testing::ElementsAre(testing::Pair(1, 64)));
        ASSERT_EQ(a.ranks.size(), b.ranks.size());
        for (std::size_t rank = 0; rank < a.ranks.size(); ++rank)
            EXPECT_EQ(a.ranks[rank].peak_memory, b.ranks[rank].peak_memory);
        EXPECT_NEAR(a.tokens_per_s, b.tokens_per_s, 1e-6 * b.tokens_per_s);
        EXPECT_NEAR(*a.mfu, *b.mfu, 1e-9);
    }
}

TEST(PackedSteps, OfDocumentsAsLongAsAllRanksAreThoseOfContextParallelismToTheBit) {
    const Scenario dynamic = packed_job(
        "context: 8, " + kDynamic, "global_batch: 8, seq_length: 65536", "mean: 65536, spread: 0");
    const Scenario plain =
        packed_job("context: 8, zero_stage: 1", "global_batch: 8, seq_length: 65536", "");
    const Prediction a = predict(dynamic).prediction;
    const Prediction b = predict(plain).prediction;
    EXPECT_EQ(a.step_time_s, b.step_time_s);
    EXPECT_EQ(a.uneven->packed->static_p50_s, b.step_time_s);
    EXPECT_EQ(a.uneven->packed->static_times_as_long, 1);
    EXPECT_THAT(a.uneven->packed->groups, testing::ElementsAre(testing::Pair(8, 8)));
    for (std::size_t rank = 0; rank < a.ranks.size(); ++rank)
        EXPECT_EQ(a.ranks[rank].peak_memory, b.ranks[rank].peak_memory);
}

/// Both ways get the same documents, and no token is lost.
TEST(PackedSteps, HaveTheDocumentsOfTheGlobalBatchHoweverTheyAreGrouped) {
    for (const char* sequence :
         {"mean: 3000, spread: 2", "mean: 3000, spread: 2, global_batch_packing: true"}) {
        const Scenario scenario =
            packed_job("context: 4, " + kDynamic, "global_batch: 16, seq_length: 32768", sequence);
        for (const int draw : {0, 3}) {
            std::vector<Document> all[2];
            for (const Groups groups : {Groups::Dynamic, Groups::Equal})
                for (const PackedMicroBatch& micro_batch : pack_documents(scenario, draw, groups))
                    for (const DocumentGroup& group : micro_batch)
                        for (const Document& document : group.documents)
                            all[groups == Groups::Dynamic ? 0 : 1].push_back(document);
            for (auto& documents : all) std::ranges::sort(documents, {}, &Document::id);
            EXPECT_EQ(all[0], all[1]);
            std::int64_t tokens = 0;
            for (const Document& document : all[0]) {
                EXPECT_EQ(document.length % 16, 0);
                tokens += document.length;
            }
            if (scenario.imbalance.documents->global_batch_packing)
                EXPECT_EQ(all[0].size(), 16u);
            else
                EXPECT_EQ(tokens, 16 * 32768);
        }
    }
}

TEST(PackedSteps, AreTheSameForASeedOnAnyNumberOfThreadsAndOthersForAnother) {
    Scenario scenario = packed_job("context: 4, " + kDynamic, "global_batch: 16, seq_length: 32768",
                                   "mean: 3000, spread: 2", ", jitter: 0.05");
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    const UnevenSteps once = PackedSteps(scenario, plan, {}, 1).steps();
    EXPECT_EQ(PackedSteps(scenario, plan, {}, 5).steps().drawn, once.drawn);
    scenario.imbalance.seed = 2;
    EXPECT_NE(PackedSteps(scenario, plan, {}, 1).steps().drawn, once.drawn);
}

/// Prices lie on straight lines between those of whole plans: a group of documents whose number and
/// size no price has costs what a plan of it costs, within a few percent.
TEST(PackedSteps, CostWhatAPlanOfTheSameDocumentsCosts) {
    const Scenario scenario =
        packed_job("context: 4, " + kDynamic, "global_batch: 16, seq_length: 32768", "mean: 3000");
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    const PackedPrices prices(scenario, plan.stages, plan.schedule, plan.program, {1, 2, 8});
    for (const int ranks : {1, 2, 8})
        for (const std::int64_t length : {1024, 2560})
            for (const int count : {1, 2, 3}) {
                DocumentGroup group{0, ranks, {}};
                for (int i = 0; i < count; ++i) group.documents.push_back({i, length * ranks});
                Scenario whole = scenario;
                whole.parallel.context = ranks;
                whole.parallel.data = 8 / ranks;
                whole.training.seq_length = length * ranks;
                whole.training.micro_batch = count;
                const auto costs = make_cost_model(whole, plan.stages, plan.schedule);
                for (const Pass pass : {Pass::Forward, Pass::Backward}) {
                    const Compute compute{pass, Stage{0}, {}};
                    const double wanted = seconds(costs->compute(compute, Rank{0}).duration);
                    const std::size_t work = prices.index_of(compute, Rank{0});
                    EXPECT_NEAR(seconds(prices.cost(work, group).duration), wanted, 0.04 * wanted)
                        << ranks << " ranks, " << count << " x " << length;
                }
            }
}

/// Without a pipeline a step of groups that wait for each other is what a rank's clock shows.
TEST(PackedSteps, WaitForTheSlowestRankOfAGroup) {
    const Scenario scenario =
        packed_job("context: 4, " + kDynamic, "global_batch: 16, seq_length: 32768", "mean: 3000");
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    const PackedPrices prices(scenario, plan.stages, plan.schedule, plan.program, {1, 2, 8});
    const auto group = [](int first, int ranks, std::int64_t length) {
        return DocumentGroup{first, ranks, {{0, length}}};
    };
    PackedMicroBatch alone;
    for (int rank = 0; rank < 8; ++rank) alone.push_back(group(rank, 1, 1024 * (rank + 1)));
    const PackedStep step(prices, {alone, {group(0, 8, 32768)}});
    Duration last{};
    for (std::size_t work = 0; work < prices.works().size(); ++work)
        last += step.cost(0, 7, work).duration;
    for (int rank = 0; rank < 8; ++rank) {
        Duration own{};
        for (std::size_t work = 0; work < prices.works().size(); ++work)
            own += step.cost(0, rank, work).duration;
        EXPECT_EQ(step.wait(1, rank, Rank{0}), last - own);
        EXPECT_EQ(step.wait(0, rank, Rank{0}), Duration{});
    }
    EXPECT_GT(step.waiting(), 0);
    EXPECT_EQ(step.distinct_positions().size(), 8u);
}

/// The time until the last compute of all ranks has ended, messages taking none. `together`: the
/// ranks of a group begin every compute at once, which is what ring attention does to them; else
/// each waits before forwards as PackedStep says.
double end_of(const PackedStep& step, const Program& program, int positions, bool together) {
    using Place = std::tuple<int, Pass, int, int>;  // position, pass, stage, microbatch
    std::map<Place, Duration> ends;
    for (bool changed = true; changed;) {
        changed = false;
        std::map<Place, Duration> ready;
        for (int p = 0; p < positions; ++p)
            for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
                Duration before{};
                for (const Action& action : program.ranks[rank])
                    for_each_compute(action, [&](const Compute& c) {
                        const int from = c.stage.index + (c.pass == Pass::Forward ? -1 : 1);
                        const int mb = c.micro_batch.index;
                        ready[{p, c.pass, c.stage.index, mb}] =
                            std::max(before, ends[{p, c.pass, from, mb}]);
                        before = std::max(before, ends[{p, c.pass, c.stage.index, mb}]);
                    });
            }
        for (const auto& [place, own] : ready) {
            const auto& [p, pass, stage, mb] = place;
            const DocumentGroup& group = step.group(mb, p);
            Duration begin = own;
            for (int q = group.first_rank; together && q < group.first_rank + group.ranks; ++q)
                begin = std::max(begin, ready[{q, pass, stage, mb}]);
            if (!together && pass == Pass::Forward) begin += step.wait(mb, p, Rank{stage});
            const std::size_t work =
                step.prices().index_of(Compute{pass, Stage{stage}, {}}, Rank{stage});
            const Duration end = begin + step.cost(mb, p, work).duration;
            changed = changed || end > ends[place];
            ends[place] = std::max(ends[place], end);
        }
    }
    Duration last{};
    for (const auto& [place, end] : ends) last = std::max(last, end);
    return seconds(last);
}

TEST(PackedSteps, WaitInAPipelineNearlyAsGroupsThatBeginTogetherDo) {
    for (const char* pipeline : {"1", "2", "4"}) {
        const Scenario scenario =
            packed_job(fmt::format("pipeline: {}, context: 2, {}", pipeline, kDynamic),
                       "global_batch: 24, seq_length: 16384", "mean: 3000, spread: 2");
        const scenarios::Plan plan = scenarios::make_plan(scenario);
        const int positions = scenario.parallel.replicas();
        const std::vector<int> sizes = scenarios::context_group_sizes(scenario);
        const PackedPrices prices(scenario, plan.stages, plan.schedule, plan.program,
                                  {sizes.begin(), sizes.end()});
        for (const int draw : {0, 1, 2}) {
            const PackedStep step(prices, pack_documents(scenario, draw, Groups::Dynamic));
            Scenario counted = scenario;
            counted.training.micro_batches = static_cast<int>(step.micro_batches().size());
            const Program program = scenarios::make_plan(counted).program;
            const double exact = end_of(step, program, positions, true);
            const double planned = end_of(step, program, positions, false);
            EXPECT_NEAR(planned / exact, 1, scenario.parallel.pipeline == 1 ? 1e-9 : 0.005)
                << pipeline << " ranks, draw " << draw;
        }
    }
}

TEST(PackedSteps, RunInterleavedInAMultipleOfMicrobatches) {
    const Scenario scenario = packed_job(
        "pipeline: 2, context: 2, " + kDynamic, "global_batch: 32, seq_length: 16384",
        "mean: 3000, spread: 2", "}\nschedule: {name: interleaved-1f1b, stages_per_rank: 2");
    for (const int draw : {0, 1, 2, 3})
        EXPECT_EQ(pack_documents(scenario, draw, Groups::Dynamic).size() % 2, 0u);
    const PredictionWithTrace answer = predict(scenario);
    EXPECT_EQ(answer.prediction.step_time_s, answer.prediction.uneven->p50_s);
    for (const RankStatistics& rank : answer.statistics.ranks)
        EXPECT_EQ(rank.busy + rank.exposed + rank.optimizer + rank.idle, answer.statistics.step);
}

/// Too few documents for dp_balanced are enough for groups that the documents need.
TEST(PackedSteps, AreComparedWithEqualGroupsWhereThoseCanBePacked) {
    const auto job = [](const char* context, const char* batch) {
        return packed_job(fmt::format("pipeline: 2, context: {}, {}", context, kDynamic),
                          fmt::format("global_batch: {}, seq_length: 16384", batch),
                          "mean: 16384, spread: 0, global_batch_packing: true",
                          "}\nschedule: {name: interleaved-1f1b, stages_per_rank: 2");
    };
    EXPECT_THROW(pack_documents(job("2", "6"), 0, Groups::Equal), InputError);
    const Prediction alone = predict(job("2", "6")).prediction;
    EXPECT_FALSE(alone.uneven->packed->static_p50_s);
    EXPECT_EQ(alone.uneven->packed->micro_batches, 4);
    EXPECT_TRUE(predict(job("2", "8")).prediction.uneven->packed->static_p50_s);
    try {
        predict(job("4", "3"));
        FAIL() << "three groups of all ranks cannot be split";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("default_dynamic_cp"));
        EXPECT_THAT(error.what(), testing::Not(HasSubstr("dp_balanced")));
        EXPECT_THAT(error.what(), HasSubstr("training.global_batch"));
    }
}

TEST(PackedSteps, TakeLongerWithLongerDocumentsOfAsManyTokens) {
    double before = 0;
    for (const char* mean : {"512", "2048", "8192", "32768"}) {
        const Scenario scenario =
            packed_job("context: 4, " + kDynamic, "global_batch: 16, seq_length: 32768",
                       fmt::format("mean: {}, spread: 0", mean));
        const double now = predict(scenario).prediction.step_time_s;
        EXPECT_GT(now, before) << mean;
        before = now;
    }
}

/// Megatron-Bridge's guide (docs/training/dynamic-context-parallel.md): where nearly every sequence
/// needs the full group, dynamic groups match static ones, 5 % apart as measured. NVIDIA's post of
/// 28 January 2026 has up to 1.48 for a Llama of 13 B parameters; it gives no lengths.
TEST(PackedSteps, GainWhereDocumentsAreShortAndNothingWhereTheyAreLong) {
    const Scenario longest =
        packed_job("context: 4, " + kDynamic, "global_batch: 64, seq_length: 32768",
                   "mean: 32768, spread: 0.05, global_batch_packing: true");
    EXPECT_NEAR(predict(longest).prediction.uneven->packed->static_times_as_long, 1, 0.05);
    const Scenario tail =
        scenarios::read_scenario("llama2-13b-dynamic-cp", {{"imbalance.draws", "4"}});
    const double gain = predict(tail).prediction.uneven->packed->static_times_as_long;
    EXPECT_GT(gain, 1.25);
    EXPECT_LT(gain, 1.75);
}

TEST(PackedSteps, HoldTheCapacityOfARankInMemory) {
    Bytes before;
    for (const char* capacity : {"4096", "8192", "16384"}) {
        const Prediction p =
            predict(packed_job(fmt::format("context: 4, {}, max_seqlen_per_dp_cp_rank: {}",
                                           kDynamic, capacity),
                               "global_batch: 16, seq_length: 32768", "mean: 3000, spread: 2"))
                .prediction;
        EXPECT_GT(p.ranks.front().peak_memory, before) << capacity;
        before = p.ranks.front().peak_memory;
    }
}

TEST(PackedSteps, OfExpertsWaitForAllRanksThatShareThem) {
    const Scenario scenario = scenarios::parse_scenario(
        "model: {base: mixtral-8x7b, layers: 4}\ncluster: hgx-h100\ngpus: 8\n"
        "parallel: {context: 4, expert: 8, " +
            kDynamic +
            "}\ntraining: {micro_batch: 1, global_batch: 16, seq_length: 32768}\n"
            "imbalance: {sequence: {mean: 3000, spread: 2}, draws: 5}\n",
        "experts.yaml");
    const Prediction p = predict(scenario).prediction;
    EXPECT_EQ(p.uneven->packed->waiting, 0) << "all ranks are as slow as the slowest";
    EXPECT_GT(p.uneven->p50_s, p.uneven->packed->static_p50_s.value() * 0.5);
}

TEST(PackedSteps, LeaveNoNanosecondUnaccountedAndSayWhatRanksCost) {
    const Scenario scenario =
        packed_job("pipeline: 2, context: 2, " + kDynamic, "global_batch: 32, seq_length: 16384",
                   "mean: 2000, spread: 2", ", ranks: {1: 1.2}, jitter: 0.02");
    const PredictionWithTrace answer = predict(scenario);
    for (const RankStatistics& rank : answer.statistics.ranks)
        EXPECT_EQ(rank.busy + rank.exposed + rank.optimizer + rank.idle, answer.statistics.step);
    EXPECT_EQ(answer.prediction.step_time_s, answer.prediction.uneven->p50_s);
    ASSERT_EQ(answer.prediction.uneven->slow.size(), 1u);
    EXPECT_GT(answer.prediction.uneven->slow[0].cost, 0);
    const std::string text = report_text(scenario, answer);
    EXPECT_THAT(text, HasSubstr("packing"));
    EXPECT_THAT(text, HasSubstr("the same documents in groups of 2 alone"));
    const auto json = report_json(answer)["uneven_loads"]["packing"];
    EXPECT_GT(json["groups_by_ranks"]["1"], 0);
    EXPECT_GT(json["static"]["times_as_long"], 0);
}

TEST(PackedSteps, SayTheirCutInThePlanAndNoNumberOfMicrobatches) {
    const std::string batch = "global_batch: 32, seq_length: 16384";
    const auto dynamic = plan_json(packed_job(
        "context: 2, min_dynamic_context_parallel_size: 2, " + kDynamic, batch, "mean: 2000"));
    EXPECT_EQ(dynamic["parallel"]["dynamic_context_parallel"], true);
    EXPECT_EQ(dynamic["parallel"]["max_seqlen_per_dp_cp_rank"], 8192);
    EXPECT_EQ(dynamic["parallel"]["min_dynamic_context_parallel_size"], 2);
    EXPECT_FALSE(dynamic["training"].contains("micro_batches"));
    EXPECT_EQ(dynamic["training"]["global_batch"], 32);
    const auto plain = plan_json(packed_job("context: 2", batch, ""));
    EXPECT_FALSE(plain["parallel"].contains("dynamic_context_parallel"));
    EXPECT_EQ(plain["training"]["micro_batches"], 8);
}

/// A search compares plans under even loads.
TEST(PackedSteps, AreNeverBelowTheBoundOfASearch) {
    for (const char* pipeline : {"1", "2", "4"})
        for (const char* capacity : {"2048", "8192"}) {
            const Scenario scenario = packed_job(
                fmt::format("pipeline: {}, context: 2, {}, max_seqlen_per_dp_cp_rank: {}", pipeline,
                            kDynamic, capacity),
                "global_batch: 32, seq_length: 4096", "mean: 2000, spread: 2");
            const PlanBound bound = bound_of(scenario);
            const Prediction p =
                predict(scenario, {.keep_trace = false, .draw_loads = false}).prediction;
            EXPECT_LE(bound.step_time_s, p.step_time_s);
            Bytes peak;
            for (const RankPrediction& rank : p.ranks) peak = std::max(peak, rank.peak_memory);
            EXPECT_LE(bound.memory, peak);
        }
}

}  // namespace
}  // namespace debubble::sim
