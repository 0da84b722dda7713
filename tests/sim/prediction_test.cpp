#include "sim/predict.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "scenarios/read/read_scenario.h"
#include "schedule/generators/generators.h"
#include "sim/explain/explain.h"
#include "tests/schedule/with_offload.h"
#include "tests/sim/engine/random_plans.h"
#include "tests/sim/random_scenarios.h"
#include "tests/sim/scenarios.h"

namespace debubble::sim {
namespace {

using scenarios::Scenario;
using testing::DoubleNear;
using testing::HasSubstr;

TEST(Predict, SplitsTheStepOfEveryRankIntoWhatItDoes) {
    for (const int pipeline : {1, 2, 4}) {
        const Prediction p = predict(gpt_job(2, 2, pipeline)).prediction;
        ASSERT_EQ(p.ranks.size(), static_cast<std::size_t>(pipeline));
        for (const RankPrediction& rank : p.ranks) {
            const double sum = rank.busy_s + rank.exposed_comm_s + rank.optimizer_s + rank.idle_s;
            EXPECT_THAT(sum, DoubleNear(p.step_time_s, 1e-9));
            EXPECT_GE(rank.idle_s, -1e-9);
            EXPECT_EQ(total(rank.memory), rank.peak_memory);
            EXPECT_FALSE(rank.peak_op.empty());
        }
    }
}

/// A job of random shape whose optimizer steps before the gradients' norm is known.
Scenario random_post_validated_job(Dice& dice, const Generator& generator) {
    const int stages = generator.stages_per_rank.value_or(1 + dice.roll(2));
    const int pipeline = dice.one_of<int>({2, 2, 4, 4, 8});
    const int zero = dice.roll(4);
    const int layers = pipeline * stages * (1 + dice.roll(2)) + (dice.chance(50) ? 1 : 0);
    const int micro_batches = pipeline * dice.one_of<int>({1, 2, 2, 3});
    const std::string text = fmt::format(
        "model: {{base: {}, layers: {}}}\ncluster: dgx-a100-80gb\nnodes: {}\n"
        "parallel: {{tensor: 1, pipeline: {}, data: auto, zero_stage: {}, stages_per_rank: {}}}\n"
        "schedule: {}\nframework: {{base: megatron-2024, post_validation: true}}\n"
        "training: {{micro_batches: {}, micro_batch: 1, seq_length: {}}}\n",
        dice.one_of<std::string>({"gpt2-xl", "llama3-8b"}), layers, dice.one_of<int>({1, 4}),
        pipeline, zero, stages, generator.name, micro_batches, dice.one_of<int>({128, 1024}));
    return scenarios::parse_scenario(
        text, "post-validated.yaml",
        {{"cluster.network.latency", dice.one_of<std::string>({"5 us", "3 ms"})},
         {"cluster.network.nic_bandwidth", dice.one_of<std::string>({"200 Gb/s", "20 Gb/s"})}});
}

TEST(Predict, NoRankIsIdleForLessThanNoTimeWhereTheNextStepBeginsEarly) {
    Dice dice(11);
    int tried = 0;
    for (const Generator& generator : generators())
        for (int i = 0; i < 12; ++i) {
            PredictionWithTrace answer;
            std::string shape;
            try {
                const Scenario job = random_post_validated_job(dice, generator);
                shape = fmt::format("{} pipeline {} layers {} zero {}", generator.name,
                                    job.parallel.pipeline, job.model.layers.count(),
                                    job.parallel.zero_stage);
                answer = predict(job, {.play_allocator = false});
            } catch (const InputError&) {
                continue;  // the generator or the plan does not suit the shape
            }
            SCOPED_TRACE(shape);
            ++tried;
            for (const RankPrediction& rank : answer.prediction.ranks) {
                EXPECT_GE(rank.idle_s, 0) << rank.rank.index;
                EXPECT_GE(rank.exposed_comm_s, 0) << rank.rank.index;
                EXPECT_NEAR(rank.busy_s + rank.exposed_comm_s + rank.optimizer_s + rank.idle_s,
                            answer.prediction.step_time_s, 2e-9);
            }
            for (const RankStatistics& rank : answer.statistics.ranks) {
                Duration idle{};
                for (const Duration cause : rank.idle_by_cause) {
                    EXPECT_GE(cause, Duration{});
                    idle += cause;
                }
                const auto row = static_cast<std::size_t>(rank.rank.index);
                EXPECT_NEAR(seconds(idle), answer.prediction.ranks[row].idle_s, 2e-9);
            }
        }
    EXPECT_GT(tried, 60);
}

TEST(Predict, CountsModelFlopsForMfuAndRecomputeForHfu) {
    Scenario job = gpt_job(1, 1, 1, 4);
    const Prediction none = predict(job).prediction;
    const double flops = models::model_flops_per_sample(job.model, job.training.seq_length) *
                         job.training.global_batch;
    EXPECT_NEAR(*none.mfu, flops / none.step_time_s / *job.cluster.gpu.fp16_flops_per_s, 1e-9);
    EXPECT_EQ(none.hfu, none.mfu);
    const double attended = models::attended_flops_per_sample(job.model, job.training.seq_length) *
                            job.training.global_batch;
    EXPECT_NEAR(*none.mfu_causal, *none.mfu * attended / flops, 1e-12);
    job.training.recompute = models::Recompute::Full;
    const Prediction full = predict(job).prediction;
    EXPECT_GT(full.step_time_s, none.step_time_s * 1.2);
    EXPECT_LT(full.step_time_s, none.step_time_s * 1.4);
    EXPECT_GT(*full.hfu, *full.mfu * 1.2);
    EXPECT_LT(*full.hfu, *full.mfu * 4.0 / 3.0);
}

TEST(Predict, LeavesMfuUnknownWithoutAPeakRate) {
    Scenario job = gpt_job(1, 1, 1, 2);
    job.cluster.gpu.fp32_flops_per_s.reset();
    job.training.precision.compute = models::DataType::Fp32;
    EXPECT_EQ(predict(job).prediction.mfu, std::nullopt);
}

TEST(Predict, SaysWhichRankDoesNotFitAndByHowMuch) {
    Scenario job = gpt_job(1, 1, 2, 40);
    job.training.micro_batch = 8;
    job.training.global_batch = 64;
    const Prediction p = predict(job).prediction;
    EXPECT_FALSE(p.fits);
    EXPECT_THAT(p.reason, HasSubstr("rank 0 needs "));
    EXPECT_THAT(p.reason, HasSubstr("GiB too much"));
}

/// A plan whose allocator reserves more than it is asked for.
Scenario fragmented_job() {
    Scenario job = gpt_job(1, 1, 2, 8);
    job.framework.headroom = Bytes{std::int64_t{1} << 30};
    return job;
}

TEST(Predict, FitsExactlyWhereWhatTheAllocatorReservesAndTheHeadroomDo) {
    Scenario job = fragmented_job();
    Bytes asked;
    Bytes needed;
    for (const RankPrediction& rank : predict(job).prediction.ranks) {
        asked = std::max(asked, rank.peak_memory);
        needed = std::max(needed, rank.needs());
    }
    ASSERT_GT(needed, asked);

    job.cluster.gpu.memory = needed + job.framework.headroom;
    const Prediction just = predict(job).prediction;
    EXPECT_TRUE(just.fits);
    EXPECT_TRUE(just.tight);
    EXPECT_EQ(just.memory_left, Bytes{});
    EXPECT_EQ(just.headroom, job.framework.headroom);

    job.cluster.gpu.memory = needed + job.framework.headroom - Bytes{1};
    const Prediction over = predict(job).prediction;
    EXPECT_FALSE(over.fits);
    EXPECT_FALSE(over.tight);
    EXPECT_EQ(over.memory_left, Bytes{-1});
    EXPECT_THAT(over.reason, HasSubstr(", for which the allocator reserves "));
    EXPECT_THAT(over.reason, HasSubstr(", 1.00 of them for context and communication buffers: "));

    job.cluster.gpu.memory = Bytes{2 * (needed + job.framework.headroom).count};
    EXPECT_FALSE(predict(job).prediction.tight);
}

TEST(Predict, SaysThatTheHeadroomLeavesNothingOfADeviceThatIsNoLarger) {
    Scenario job = fragmented_job();
    job.cluster.gpu.memory = Bytes{job.framework.headroom.count / 2};
    const Prediction none = predict(job).prediction;
    EXPECT_FALSE(none.fits);
    EXPECT_THAT(none.reason, HasSubstr(" and the headroom for context and communication buffers, "
                                       "1.00 GiB, leaves nothing of a device's 0.50 GiB"));
    EXPECT_THAT(none.reason, testing::Not(HasSubstr(" of them ")));
}

TEST(Predict, SaysTheSameOfFittingWhereItPlaysTheAllocatorOnlyIfThatDecides) {
    Scenario job = fragmented_job();
    const Bytes needed = predict(job).prediction.ranks.front().needs();
    for (const double of_it : {0.5, 0.9, 1.0, 1.1, 1.5, 4.0}) {
        job.cluster.gpu.memory =
            Bytes{static_cast<std::int64_t>(of_it * static_cast<double>(needed.count))};
        const Prediction whole = predict(job).prediction;
        const Prediction quick =
            predict(job, {.keep_trace = false, .only_where_it_decides = true}).prediction;
        EXPECT_EQ(quick.fits, whole.fits) << of_it;
        EXPECT_EQ(quick.tight, whole.tight) << of_it;
        EXPECT_EQ(quick.memory_verdict, whole.memory_verdict) << of_it;
        EXPECT_EQ(whole.memory_left < Bytes{}, quick.memory_left < Bytes{}) << of_it;
    }
}

/// By which the allocator is not played where that much is in the device.
TEST(Predict, ReservesLessThanTheBoundThatSparesTheAllocator) {
    for (const char* model : {"gpt2", "llama3-8b", "vit-base", "mixtral-8x7b"})
        for (const char* framework : {"megatron-2021", "megatron-2026", "pytorch-eager"})
            for (const char* schedule : {"1f1b", "gpipe", "zb-h1", "zb-v"})
                for (const char* more : {"recompute: none", "recompute: full",
                                         "recompute: none, offload: {layers: 8}"}) {
                    const std::string text = fmt::format(
                        "model: {}\ncluster: dgx-a100-80gb\nnodes: 1\nframework: {}\n"
                        "parallel: {{tensor: 1, pipeline: 4, data: auto}}\nschedule: {}\n"
                        "training: {{global_batch: 32, micro_batch: 2, precision: bf16, {}}}\n",
                        model, framework, schedule, more);
                    const auto scenario = scenarios::parse_scenario(text, "reserved.yaml");
                    for (const RankPrediction& rank : predict(scenario).prediction.ranks)
                        EXPECT_LT(rank.reserved,
                                  most_reserved(rank.peak_memory, scenario.parallel.zero_stage))
                            << text << " rank " << rank.rank.index;
                }
}

/// Twice its tensors' memory: layers of experts that are gathered and dropped, of unequal sizes.
TEST(Predict, ReservesLessThanThatBoundWhereZero3FragmentsMost) {
    const auto scenario = scenarios::parse_scenario(
        "model: minimax-m2\ncluster: hgx-mi355x\nframework: megatron-2026\n"
        "parallel: {pipeline: 4, data: 32, context: 2, stages_per_rank: 2, zero_stage: 3, "
        "wrap: layer}\nschedule: group-interleaved\n"
        "training: {micro_batches: 8, seq_length: 512, recompute: full, attention: unfused}\n",
        "fragments.yaml");
    const RankPrediction rank = predict(scenario).prediction.ranks.front();
    EXPECT_GT(rank.reserved, 2 * rank.peak_memory);
    EXPECT_LT(rank.reserved, most_reserved(rank.peak_memory, 3));
}

TEST(Predict, ReservesLessThanThatBoundInRandomScenarios) {
    const int predicted = for_random_scenarios([](const RandomScenario& drawn) {
        PredictOptions how;
        how.keep_trace = how.draw_loads = how.explain = false;
        for (const RankPrediction& rank : predict(drawn.scenario, how).prediction.ranks)
            EXPECT_LT(rank.reserved,
                      most_reserved(rank.peak_memory, drawn.scenario.parallel.zero_stage))
                << "rank " << rank.rank.index;
    });
    EXPECT_GT(predicted, 0);
}

TEST(Predict, KeepsNoHeadroomOnAProcessor) {
    Scenario job = fragmented_job();
    job.cluster.gpu.threads = 1;
    EXPECT_EQ(predict(job).prediction.headroom, Bytes{});
}

TEST(Predict, NamesAnImpossiblePartition) {
    try {
        predict(gpt_job(1, 1, 8, 6));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("6 layers cannot fill 8 stages"));
    }
}

TEST(Predict, HasABubbleThatShrinksWithMicroBatchesAndWithInterleaving) {
    Scenario job = gpt_job(8, 1, 4);
    const double few = predict(job).prediction.bubble;
    job.training.micro_batches = 32;
    job.training.global_batch = 32;
    const double many = predict(job).prediction.bubble;
    EXPECT_LT(many, few / 2);
    job.schedule.name = "interleaved-1f1b";
    job.parallel.stages_per_rank = 2;
    EXPECT_LT(predict(job).prediction.bubble, many);
}

TEST(Predict, GivesAGeneratorThatSearchesTheCostsOfThisScenario) {
    Scenario job = gpt_job(8, 1, 4);
    job.schedule.name = "zb-auto";
    job.framework.post_validation = true;
    const double searched = predict(job).prediction.step_time_s;
    job.schedule.name = "1f1b";
    EXPECT_LT(searched, predict(job).prediction.step_time_s);
}

TEST(Predict, HoldsAndMovesLessForAnOptimizerWithFewerMoments) {
    Scenario job = gpt_job(1, 1, 1, 4);
    const Prediction adam = predict(job).prediction;
    job.training.run.optimizer = scenarios::SgdOptions{};
    const Prediction sgd = predict(job).prediction;
    const auto optimizer = [](const Prediction& p) {
        return p.ranks[0].memory[static_cast<std::size_t>(MemoryClass::Optimizer)].count;
    };
    EXPECT_EQ(optimizer(sgd) * 3, optimizer(adam)) << "the fp32 parameters, without two moments";
    EXPECT_LT(sgd.ranks[0].optimizer_s, adam.ranks[0].optimizer_s);
    EXPECT_LT(sgd.step_time_s, adam.step_time_s);
}

TEST(Predict, SaysWhenTheHostSetsThePace) {
    Scenario job = gpt_job(1, 1, 2, 4);
    EXPECT_THAT(predict(job).prediction.notes,
                testing::Not(testing::Contains(HasSubstr("the host is the bottleneck"))));
    job.framework.host_module = job.framework.host_kernel = std::chrono::milliseconds(40);
    EXPECT_THAT(predict(job).prediction.notes,
                testing::Contains(HasSubstr("the host is the bottleneck: 9")));
}

TEST(Predict, SaysWhatNoMeasuredStepStandsBehind) {
    Scenario job = gpt_job(1, 1, 2, 4);
    job.framework.name = "megatron-2021";
    job.cluster.origins["gpu.memory_efficiency"] = {scenarios::Provenance::Fitted, "steps"};
    EXPECT_THAT(predict(job).prediction.notes, testing::IsEmpty());
    job.schedule.name = "gpipe";
    job.cluster.origins["gpu.memory_efficiency"] = {scenarios::Provenance::Assumed, "a guess"};
    EXPECT_THAT(
        predict(job).prediction.notes,
        testing::Contains(testing::AllOf(HasSubstr("unvalidated"), HasSubstr("schedule gpipe"),
                                         HasSubstr("the kernel rates of"))));
}

TEST(Unvalidated, NamesTheRatesLinksAndNetworkOfTheMachineThatNobodyMeasured) {
    Scenario job = gpt_job(8, 1, 2, 4);
    job.framework.name = "megatron-2021";
    const auto assume = [&](const char* constant, scenarios::Provenance provenance) {
        job.cluster.origins[constant] = {provenance, "said here"};
    };
    const char* const kConstants[] = {"gpu.gemm_efficiency", "gpu.memory_efficiency",
                                      "gpu.attention_forward_efficiency",
                                      "node_link.group_efficiency", "network.efficiency"};
    for (const char* constant : kConstants) assume(constant, scenarios::Provenance::Fitted);
    job.cluster.nodes = 2;
    EXPECT_THAT(unvalidated_features(job), testing::IsEmpty());
    for (const char* constant : kConstants) assume(constant, scenarios::Provenance::Assumed);
    const std::string gpu = "the kernel rates of " + job.cluster.gpu.name;
    const std::string links = "the links inside a node of " + job.cluster.name;
    const std::string network = "the network between nodes of " + job.cluster.name;
    EXPECT_THAT(unvalidated_features(job),
                testing::ElementsAre(gpu + " (GEMMs, memory-bound kernels)", links, network));
    job.training.attention = models::AttentionKernel::Flash;
    job.cluster.nodes = 1;
    EXPECT_THAT(unvalidated_features(job),
                testing::ElementsAre(gpu + " (GEMMs, attention, memory-bound kernels)", links));
}

TEST(Predict, SaysThatNoMeasuredStepHasPairs) {
    Scenario job = gpt_job(1, 1, 2, 4);
    const auto says = testing::Contains(HasSubstr("forwards and backwards in pairs"));
    EXPECT_THAT(predict(job).prediction.notes, testing::Not(says));
    job.schedule.name = "dualpipe-v";
    job.schedule.overlaps = find_generator("dualpipe-v")->overlaps;
    job.parallel.stages_per_rank = 2;
    EXPECT_THAT(predict(job).prediction.notes, says);
}

TEST(Predict, IsAPureFunction) {
    const PredictionWithTrace a = predict(gpt_job(8, 2, 4));
    const PredictionWithTrace b = predict(gpt_job(8, 2, 4));
    EXPECT_EQ(a.trace, b.trace);
    EXPECT_EQ(a.prediction.step_time_s, b.prediction.step_time_s);
    EXPECT_EQ(a.prediction.schedule_hash, a.trace.header.program_hash);
}

/// Both must hold gradients without a buffer from the same moment.
TEST(Predict, ReservesNoLessThanThePeak) {
    for (const char* schedule : {"gpipe", "1f1b", "zb-h1"}) {
        Scenario job = gpt_job(2, 2, 4);
        job.framework.main_grad_buffer = false;
        job.schedule.name = schedule;
        for (const RankPrediction& rank : predict(job).prediction.ranks)
            EXPECT_GE(rank.reserved, rank.peak_memory) << schedule << ", rank " << rank.rank.index;
    }
}

/// Copies to the host end later than the computes before them, and hold what they copy until then.
TEST(Predict, ReservesWhatWaitsForTheHost) {
    Scenario job = gpt_job(1, 1, 4);
    scenarios::Plan offloading = priced_plan(job);
    offloading.program = with_offload(offloading.program);
    offloading.lowered = nullptr;
    const PredictOptions options{.plan = &offloading};
    job.cluster.gpu.host_link = BytesPerSecond{1000000000};
    const Prediction slow = predict(job, options).prediction;
    job.cluster.gpu.host_link = BytesPerSecond{1000000000000};
    const Prediction fast = predict(job, options).prediction;
    EXPECT_GT(slow.ranks[0].peak_memory, fast.ranks[0].peak_memory);
    for (const Prediction* plan : {&slow, &fast})
        for (const RankPrediction& rank : plan->ranks)
            EXPECT_GE(rank.reserved, rank.peak_memory) << rank.rank.index;
}

TEST(Predict, SaysThatADeviceHasNoBf16) {
    Scenario job = gpt_job(1, 1, 1, 4);
    const auto says = testing::Contains(HasSubstr("no matrix units for bf16"));
    EXPECT_THAT(predict(job).prediction.notes, testing::Not(says));
    job.cluster.gpu.bf16 = false;
    EXPECT_THAT(predict(job).prediction.notes, says);
    job.training.precision.compute = models::DataType::Fp16;
    EXPECT_THAT(predict(job).prediction.notes, testing::Not(says));
}

}  // namespace
}  // namespace debubble::sim
