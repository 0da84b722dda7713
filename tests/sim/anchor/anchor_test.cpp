#include "sim/anchor/anchor.h"

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"
#include "trace/io/trace_formats.h"

/// Predictions corrected by a measured step.
namespace debubble::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kGib = 1024.0 * 1024 * 1024;

scenarios::Scenario job(const std::vector<scenarios::Override>& keys = {}) {
    return scenarios::parse_scenario(
        "model: gpt2-xl\ncluster: dgx-a100-80gb\ngpus: 8\nframework: megatron-2024\n"
        "parallel: {pipeline: 4}\nschedule: 1f1b\n"
        "training: {global_batch: 64, micro_batch: 2}\n",
        "job.yaml", keys);
}

/// The lines are of the forms that the sources of the three print (Megatron-LM d98e8a64dd,
/// megatron/training/training.py; torchtitan b5bcd76c6, components/metrics.py; Primus fd1eeabb).
TEST(MeasuredLog, ReadsWhatMegatronPrints) {
    const MeasuredPlan plan = read_log(
        " [2026-01-01] iteration  1/ 500 | elapsed time per iteration (ms): 48000.0 | throughput "
        "per GPU (TFLOP/s/GPU): 120.1 | learning rate: 1e-4\n"
        " iteration  2/ 500 | elapsed time per iteration (ms): 15396.6 | throughput per GPU "
        "(TFLOP/s/GPU): 401.2 |\n"
        " iteration  3/ 500 | elapsed time per iteration (ms): 15402.6 | throughput per GPU "
        "(TFLOP/s/GPU): 401.0 |\n"
        "[Rank 0] (after 2 iterations) memory (MB) | allocated: 41234.0 | max allocated: 61440.0 | "
        "reserved: 70000.0 | max reserved: 70000.0\n");
    EXPECT_NEAR(plan.step_s.value(), 15.3996, 1e-9);
    EXPECT_NEAR(plan.tflops_per_gpu.value(), 401.1, 1e-9);
    EXPECT_EQ(plan.allocated.value(), Bytes{60L << 30});
    EXPECT_FALSE(plan.reserved);
}

TEST(MeasuredLog, ReadsWhatTorchtitanAndPrimusPrint) {
    const MeasuredPlan titan = read_log(
        "step: 20  loss:  7.12  grad_norm:  1.3  memory: 73.30GiB(77.15%)  tps: 11,600  tflops: "
        "512.25  mfu: 51.80%");
    EXPECT_NEAR(static_cast<double>(titan.reserved.value().count), 73.30 * kGib, 1);
    EXPECT_DOUBLE_EQ(titan.tokens_per_s_per_gpu.value(), 11'600);
    EXPECT_DOUBLE_EQ(titan.tflops_per_gpu.value(), 512.25);
    const MeasuredPlan primus = read_log(
        "iteration 10/50 | elapsed time per iteration (ms): 2314.1/2310.7 | tokens per GPU "
        "(tokens/s/GPU): 11600.2/11611.0 |");
    EXPECT_NEAR(primus.step_s.value(), 2.3107, 1e-9);  // the mean of its last steps
    EXPECT_DOUBLE_EQ(primus.tokens_per_s_per_gpu.value(), 11'611.0);
    const MeasuredPlan words = read_log("mem 73.3 GiB, 11,600 tps");
    EXPECT_NEAR(static_cast<double>(words.reserved.value().count), 73.3 * kGib, 1);
    EXPECT_DOUBLE_EQ(words.tokens_per_s_per_gpu.value(), 11'600);
}

TEST(Differences, AreNamedByTheirKeysAndHaveAClass) {
    const auto between = [](const std::vector<scenarios::Override>& keys) {
        return differing_keys(job(), job(keys));
    };
    EXPECT_TRUE(between({}).empty());
    EXPECT_EQ(class_of_difference({}), "nothing");
    EXPECT_THAT(between({{"schedule", "gpipe"}}), ElementsAre("schedule.name"));
    EXPECT_EQ(class_of_difference(between({{"schedule", "gpipe"}})), "schedule");
    EXPECT_EQ(class_of_difference(between({{"parallel.pipeline", "8"}})), "cut");
    EXPECT_EQ(class_of_difference(between({{"training.global_batch", "128"}})), "batch");
    EXPECT_EQ(class_of_difference(between({{"gpus", "16"}})), "gpus");
    EXPECT_EQ(class_of_difference(between({{"training.recompute", "full"}})), "recompute");
    EXPECT_EQ(class_of_difference(between({{"cluster", "hgx-h100"}})), "machines");
    EXPECT_EQ(class_of_difference(between({{"schedule", "gpipe"}, {"parallel.pipeline", "8"}})),
              "several");
}

TEST(AnchoredBy, ItsOwnPlanTakesWhatWasMeasured) {
    const Prediction own = predict(job(), {}).prediction;
    MeasuredPlan measured;
    measured.step_s = 1.1 * own.step_time_s;
    const AnchoredBy anchored({job(), measured});
    EXPECT_NEAR(anchored.time_ratio().value(), 1.1, 1e-9);
    const AnchoredFigures same = anchored.of(job(), own);
    EXPECT_EQ(same.carry.differs, "nothing");
    EXPECT_NEAR(same.step_time_s, *measured.step_s, 1e-9);
    EXPECT_NEAR(same.low_s, *measured.step_s, 1e-9);
    EXPECT_NEAR(same.high_s, *measured.step_s, 1e-9);
}

TEST(AnchoredBy, ItsNeighboursAreCorrectedByItsRatioWithinARangeOfPublishedPairs) {
    const Prediction own = predict(job(), {}).prediction;
    MeasuredPlan measured;
    measured.tokens_per_s_per_gpu = own.tokens_per_s / 8 / 1.25;
    const AnchoredBy anchored({job(), measured});
    const scenarios::Scenario beside = job({{"training.global_batch", "128"}});
    const Prediction other = predict(beside, {}).prediction;
    const AnchoredFigures figures = anchored.of(beside, other);
    EXPECT_NEAR(figures.step_time_s, 1.25 * other.step_time_s, 1e-9);
    EXPECT_NEAR(figures.tokens_per_s, other.tokens_per_s / 1.25, 1e-6);
    EXPECT_EQ(figures.carry.differs, "batch");
    EXPECT_GT(figures.carry.pairs, 0);
    // It narrows what no measured step of the job would leave.
    ASSERT_TRUE(other.range);
    EXPECT_LT(figures.high_s / figures.low_s, other.range->high_s / other.range->low_s);
}

TEST(AnchoredBy, MemoryIsCorrectedAboveWhatNoPassMakes) {
    const Prediction own = predict(job(), {}).prediction;
    MeasuredPlan measured;
    const auto fullest = std::ranges::max_element(own.ranks, {}, &RankPrediction::needs);
    measured.reserved = fullest->needs() + Bytes{1L << 30};
    const AnchoredBy anchored({job(), measured});
    EXPECT_FALSE(anchored.time_ratio());
    EXPECT_GT(anchored.memory_ratio().value(), 1);
    const AnchoredFigures same = anchored.of(job(), own);
    EXPECT_NEAR(static_cast<double>(same.needs.count),
                static_cast<double>(measured.reserved->count), 1e6);
    const scenarios::Scenario less = job({{"training.micro_batch", "1"}});
    const Prediction other = predict(less, {}).prediction;
    const auto of_other = std::ranges::max_element(other.ranks, {}, &RankPrediction::needs);
    const auto more = anchored.of(less, other).needs - of_other->needs();
    EXPECT_GT(more.count, 0);
    EXPECT_LT(more.count, 1L << 30);  // half of the activations have half of the error
}

/// Of kernels 1.1 times as long, exposed communication twice and idle time half.
MeasuredPlan slower_wires(const Prediction& own) {
    MeasuredPlan measured;
    StepParts& parts = measured.parts.emplace();
    for (const RankPrediction& rank : own.ranks) {
        parts.ranks.push_back(rank.rank);
        parts.compute_s += 1.1 * (rank.busy_s + rank.optimizer_s) / 4;
        parts.exposed_s += 2 * rank.exposed_comm_s / 4;
        parts.idle_s += 0.5 * rank.idle_s / 4;
    }
    measured.step_s = parts.compute_s + parts.exposed_s + parts.idle_s;
    return measured;
}

TEST(AnchoredBy, AProfileCorrectsEachPartOfTheStep) {
    const std::vector<scenarios::Override> sharded{{"parallel.zero_stage", "3"},
                                                   {"cluster.node_link.bandwidth", "20 GB/s"}};
    const Prediction own = predict(job(sharded), {}).prediction;
    const MeasuredPlan measured = slower_wires(own);
    const AnchoredBy anchored({job(sharded), measured});
    ASSERT_TRUE(anchored.parts());
    EXPECT_NEAR(anchored.parts()->compute, 1.1, 1e-6);
    EXPECT_NEAR(anchored.parts()->exposed, 2, 1e-6);
    EXPECT_NEAR(anchored.parts()->idle, 0.5, 1e-6);
    EXPECT_NEAR(anchored.of(job(sharded), own).step_time_s, *measured.step_s, 1e-9);
    // A neighbour that communicates less has less of what is wrong of communication.
    const std::vector<scenarios::Override> whole{{"parallel.zero_stage", "1"},
                                                 {"cluster.node_link.bandwidth", "20 GB/s"}};
    const Prediction other = predict(job(whole), {}).prediction;
    StepParts mean;
    for (const RankPrediction& rank : other.ranks) {
        mean.compute_s += (rank.busy_s + rank.optimizer_s) / 4;
        mean.exposed_s += rank.exposed_comm_s / 4;
        mean.idle_s += rank.idle_s / 4;
    }
    const AnchoredFigures figures = anchored.of(job(whole), other);
    EXPECT_NEAR(figures.step_time_s, 1.1 * mean.compute_s + 2 * mean.exposed_s + 0.5 * mean.idle_s,
                1e-9);
    EXPECT_GE(figures.step_time_s, anchored.least_ratio() * other.step_time_s);
}

TEST(AnchoredBy, ItsOwnPredictedTraceLeavesAPredictionAsItIs) {
    const PredictionWithTrace own = predict(job(), {});
    const std::string file = testing::TempDir() + "own.trace.json";
    {
        std::ofstream out(file);
        write_chrome_trace(own.trace, out);
    }
    const Anchor anchor = read_anchor({file}, job());
    ASSERT_TRUE(anchor.measured.parts);
    EXPECT_EQ(anchor.measured.parts->ranks.size(), 4U);
    const AnchoredBy anchored(anchor);
    EXPECT_NEAR(anchored.time_ratio().value(), 1, 1e-3);
    EXPECT_NEAR(anchored.parts()->compute, 1, 1e-3);
    EXPECT_NEAR(anchored.parts()->idle, 1, 1e-2);
    EXPECT_NEAR(anchored.memory_ratio().value(), 1, 1e-3);
    // A log's step counts before the profile's.
    const AnchoredBy both(read_anchor({"elapsed time per iteration (ms): 3000.0", file}, job()));
    EXPECT_NEAR(both.time_ratio().value(), 3 / own.prediction.step_time_s, 1e-9);
    ASSERT_TRUE(both.parts());
    EXPECT_NEAR(both.of(job(), own.prediction).step_time_s, 3, 1e-9);
}

TEST(AnchoredBy, WhatTheAllocatorAddsIsCorrectedApart) {
    const Prediction own = predict(job(), {}).prediction;
    const auto fullest = std::ranges::max_element(own.ranks, {}, &RankPrediction::needs);
    MeasuredPlan measured;
    measured.allocated = fullest->peak_memory;
    measured.reserved = Bytes{fullest->needs().count / 10 * 12};
    const AnchoredBy anchored({job(), measured});
    EXPECT_NEAR(anchored.memory_ratio().value(), 1, 1e-9);
    EXPECT_NEAR(anchored.allocator_ratio().value(), 1.2, 1e-6);
    EXPECT_NEAR(static_cast<double>(anchored.of(job(), own).needs.count),
                static_cast<double>(measured.reserved->count), 1e6);
}

TEST(AnchoredBy, PutsItsFiguresInThePlaceOfAGridsPrediction) {
    const Prediction own = predict(job(), {}).prediction;
    MeasuredPlan measured;
    measured.step_s = 1.25 * own.step_time_s;
    const auto fullest = std::ranges::max_element(own.ranks, {}, &RankPrediction::needs);
    measured.reserved = Bytes{fullest->needs().count + (30L << 30)};
    const AnchoredBy anchored({job(), measured});
    Prediction corrected = own;
    anchored.correct(job(), corrected);
    EXPECT_NEAR(corrected.step_time_s, *measured.step_s, 1e-9);
    EXPECT_NEAR(corrected.tokens_per_s, own.tokens_per_s / 1.25, 1e-6);
    EXPECT_NEAR(*corrected.mfu, *own.mfu / 1.25, 1e-12);
    EXPECT_NEAR(static_cast<double>((own.memory_left - corrected.memory_left).count),
                static_cast<double>(30L << 30), 1e6);
    Prediction fuller = own;
    measured.reserved = Bytes{fullest->needs().count + (90L << 30)};
    AnchoredBy({job(), measured}).correct(job(), fuller);
    EXPECT_FALSE(fuller.fits);
    EXPECT_THAT(fuller.reason, HasSubstr("by the measured plan"));
}

TEST(Anchor, WhatIsNoAnchorIsRefusedInWords) {
    const auto refusal = [](const std::string& given) {
        try {
            read_anchor({given}, job());
        } catch (const InputError& error) {
            return error.diagnostics().front().message;
        }
        return std::string();
    };
    EXPECT_THAT(refusal("fast enough"), HasSubstr("is neither a file nor a line"));
    const std::string file = testing::TempDir() + "anchor.yaml";
    std::ofstream(file) << "scenario: gpt2-xl\nmeasured: {stepp_time: 3 s}\n";
    EXPECT_THAT(refusal(file), HasSubstr("stepp_time"));
    std::ofstream(file) << "scenario: gpt2-xl\n";
    EXPECT_THAT(refusal(file), HasSubstr("measured"));
    std::ofstream(file) << "scenario: gpt2-xl\nset: {parallel.pipeline: 4}\n"
                        << "measured: {log: '1,200 tps'}\n";
    const Anchor anchor = read_anchor({file}, job());
    EXPECT_EQ(anchor.scenario.parallel.pipeline, 4);
    EXPECT_DOUBLE_EQ(anchor.measured.tokens_per_s_per_gpu.value(), 1200);
}

}  // namespace
}  // namespace debubble::sim
