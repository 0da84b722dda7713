#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenarios/read/read_scenario.h"
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

struct HeldOfRank {
    Bytes gradients;  ///< the most that it ever held of them
    Bytes peak;
    Bytes reserved;
    Bytes messages;  ///< those that it may have under way, all of a step's
};
using Played = std::vector<HeldOfRank>;  ///< by rank

Played play(const std::string& text, const std::string& network) {
    const PredictionWithTrace played = predict(
        scenarios::parse_scenario(text, "slow.yaml", {{"cluster.network.nic_bandwidth", network}}));
    Played ranks(kRanks);
    for (int i = 0; i < kRanks; ++i) {
        ranks[i].peak = played.prediction.ranks[i].peak_memory;
        ranks[i].reserved = played.prediction.ranks[i].reserved.value();
        for (const Action& action : played.trace.program.ranks[i])
            if (std::holds_alternative<Send>(action) || std::holds_alternative<Recv>(action))
                ranks[i].messages += kMessage;
    }
    for (const MemorySample& sample : played.trace.memory)
        if (sample.held_as == MemoryClass::Gradients)
            ranks[sample.rank.index].gradients =
                std::max(ranks[sample.rank.index].gradients, sample.held);
    return ranks;
}

/// Both properties look at the same plays.
const Played& played(const ShardedJob& job, const std::string& network) {
    static std::map<std::pair<std::string, std::string>, Played> known;
    std::pair key{text_of(job), network};
    auto it = known.find(key);
    if (it == known.end()) it = known.emplace(key, play(key.first, network)).first;
    return it->second;
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
        const Played& whole = played(unsharded, kNetworks.front());
        for (const std::string& network : kNetworks) {
            const Played& ranks = played(job, network);
            for (Rank rank{0}; rank.index < kRanks; ++rank.index) {
                const Bytes set = whole[rank.index].gradients;
                ASSERT_GT(set, Bytes{});
                EXPECT_LE(ranks[rank.index].gradients.count, set.count + set.count / kReplicas)
                    << name_of(job, rank) << ", " << network;
            }
        }
    });
}

TEST(UnreducedGradients, OfASlowerNetworkMakeNoHigherPeakThanThoseOfAFastOne) {
    for_each_job({0, 1, 2, 3}, [](const ShardedJob& job) {
        if (job.generator.uses_costs) return;  // another network, another order
        const Played& fast = played(job, kNetworks.front());
        for (const std::string& network : kNetworks) {
            const Played& ranks = played(job, network);
            for (Rank rank{0}; rank.index < kRanks; ++rank.index) {
                const HeldOfRank& at = ranks[rank.index];
                EXPECT_LE(at.peak, fast[rank.index].peak + at.messages)
                    << name_of(job, rank) << ", " << network;
                EXPECT_LE(at.peak, at.reserved + at.messages)
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
