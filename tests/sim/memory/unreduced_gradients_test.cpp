#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenarios/read_scenario.h"
#include "schedule/generators/generators.h"
#include "sim/memory/sharded_units.h"
#include "sim/predict.h"

/// Gradients that wait for their reduction lie in one place per stage, however slow the network is.
namespace debubble::sim {
namespace {

const std::vector<std::string> kNetworks = {"800 Gb/s", "200 Mb/s"};

constexpr int kRanks = 4;
constexpr int kReplicas = 2;
constexpr Bytes kMessage{16 * 512 * 2};

struct ShardedJob {
    const Generator& generator;
    int zero_stage = 0;
    std::string framework = "megatron-2024";
    std::string wrap = "stage";
};

/// Four pipeline ranks by two replicas, each of them a node.
std::string text_of(const ShardedJob& job) {
    const int stages =
        job.generator.stages_per_rank.value_or(job.generator.why_not({4, 1, 16, 1}, {}) ? 2 : 1);
    return fmt::format(
        "model: {{family: gpt2, layers: 16, hidden: 512, heads: 8, vocab: 1000, "
        "max_positions: 128, tied_embedding: false}}\n"
        "cluster: dgx-a100-80gb\n"
        "parallel: {{pipeline: 4, tensor: 8, data: 2, stages_per_rank: {}, zero_stage: {}, "
        "wrap: {}}}\n"
        "schedule: {{name: {}{}}}\nframework: {{base: {}, allocator: exact}}\n"
        "training: {{micro_batches: 16, micro_batch: 1, seq_length: 16}}\n",
        stages, job.zero_stage, job.wrap, job.generator.name,
        job.generator.name == "seq-1f1b" ? ", slices: 2" : "", job.framework);
}

PredictionWithTrace play(const ShardedJob& job, const std::string& network) {
    return predict(scenarios::parse_scenario(text_of(job), "slow.yaml",
                                             {{"cluster.network.nic_bandwidth", network}}));
}

/// The most that a rank ever holds of a class.
Bytes most(const PredictionWithTrace& played, Rank rank, MemoryClass held_as) {
    Bytes most;
    for (const MemorySample& sample : played.trace.memory)
        if (sample.rank == rank && sample.held_as == held_as) most = std::max(most, sample.held);
    return most;
}

std::string name_of(const ShardedJob& job, Rank rank) {
    return fmt::format("{}, ZeRO-{}, {}, {}, rank {}", job.generator.name, job.zero_stage,
                       job.framework, job.wrap, rank.index);
}

/// Every generator by every way of framework, and each ZeRO stage of it.
template <class Visit>
void for_each_job(const std::vector<int>& zero_stages, const Visit& visit) {
    for (const Generator& generator : generators())
        for (const char* framework : {"megatron-2024", "pytorch-eager", "debubble"})
            for (const char* wrap : {"stage", "layer"})
                for (const int zero : zero_stages)
                    if (!testing::Test::HasFailure())
                        visit(ShardedJob{generator, zero, framework, wrap});
}

TEST(UnreducedGradients, AreNeverMoreThanOneWholeSetBesideTheRanksOwnPart) {
    for_each_job({1, 2, 3}, [](const ShardedJob& job) {
        ShardedJob unsharded = job;
        unsharded.zero_stage = 0;
        const PredictionWithTrace whole = play(unsharded, kNetworks.front());
        for (const std::string& network : kNetworks) {
            const PredictionWithTrace played = play(job, network);
            for (Rank rank{0}; rank.index < kRanks; ++rank.index) {
                const Bytes set = most(whole, rank, MemoryClass::Gradients);
                const Bytes held = most(played, rank, MemoryClass::Gradients);
                ASSERT_GT(set, Bytes{});
                EXPECT_LE(held.count, set.count + set.count / kReplicas)
                    << name_of(job, rank) << ", " << network;
            }
        }
    });
}

/// Messages that a rank may have under way, all of a step's.
Bytes all_messages(const PredictionWithTrace& played, Rank rank) {
    Bytes sum;
    for (const Action& action : played.trace.program.ranks[rank.index])
        if (std::holds_alternative<Send>(action) || std::holds_alternative<Recv>(action))
            sum += kMessage;
    return sum;
}

TEST(UnreducedGradients, OfASlowerNetworkMakeNoHigherPeakThanThoseOfAFastOne) {
    for_each_job({0, 1, 2, 3}, [](const ShardedJob& job) {
        if (job.generator.uses_costs) return;  // another network, another order
        const PredictionWithTrace fast = play(job, kNetworks.front());
        for (const std::string& network : kNetworks) {
            const PredictionWithTrace played = play(job, network);
            for (Rank rank{0}; rank.index < kRanks; ++rank.index) {
                const RankPrediction& at = played.prediction.ranks[rank.index];
                const Bytes messages = all_messages(played, rank);
                EXPECT_LE(at.peak_memory, fast.prediction.ranks[rank.index].peak_memory + messages)
                    << name_of(job, rank) << ", " << network;
                EXPECT_LE(at.peak_memory, at.reserved + messages)
                    << name_of(job, rank) << ", " << network;
            }
        }
    });
}

/// The holders of a stage wait for each other: whoever came to it in another order would wait for
/// ever.
TEST(UnreducedGradients, AreReducedWithoutAJamHoweverManyRanksAndMicrobatches) {
    int played = 0;
    for (const Generator& generator : generators())
        for (const int ranks : {2, 4, 6, 8})
            for (int micro_batches = 2; micro_batches <= 5 * ranks; micro_batches += 2) {
                const int stages = generator.stages_per_rank.value_or(1);
                const PipelineShape shape{ranks, stages, micro_batches, 1};
                if (generator.why_not(shape, {})) continue;
                const std::string text = fmt::format(
                    "model: {{family: gpt2, layers: {}, hidden: 64, heads: 8, vocab: 100, "
                    "max_positions: 16, tied_embedding: false}}\n"
                    "cluster: dgx-a100-80gb\ngpus: {}\n"
                    "parallel: {{pipeline: {}, data: 4, stages_per_rank: {}, zero_stage: 2}}\n"
                    "schedule: {}\nframework: megatron-2024\n"
                    "training: {{micro_batches: {}, micro_batch: 1, seq_length: 16}}\n",
                    2 * ranks, 4 * ranks, ranks, stages, generator.name, micro_batches);
                if (!has_several_holders(generate(generator.name, shape).placement)) continue;
                ++played;
                EXPECT_NO_THROW(predict(scenarios::parse_scenario(text, "many.yaml"),
                                        {.keep_trace = false, .play_allocator = false}))
                    << text;
            }
    EXPECT_GE(played, 50);
}

}  // namespace
}  // namespace debubble::sim
