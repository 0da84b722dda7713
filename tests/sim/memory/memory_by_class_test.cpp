#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "models/partition/partition.h"
#include "scenarios/read/read_scenario.h"
#include "schedule/generators/generators.h"
#include "sim/memory/memory_play.h"
#include "sim/predict.h"

/// Whatever is planned, nothing is held less than not at all, and what is held by class is what
/// is held.
namespace debubble::sim {
namespace {

std::string text_of(const MemoryByClass& held) {
    std::string text;
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        text += fmt::format(" {} {}", name_of(static_cast<MemoryClass>(c)), held[c].count);
    return text;
}

bool is_negative(const MemoryByClass& held) {
    return std::ranges::any_of(held, [](Bytes bytes) { return bytes.count < 0; });
}

/// What a trace says of one rank, at the end of each instant.
std::map<Instant, MemoryByClass> levels(const Trace& trace, Rank rank) {
    std::map<Instant, MemoryByClass> levels;
    MemoryByClass now{};
    for (const MemorySample& sample : trace.memory) {
        if (sample.rank != rank) continue;
        now[static_cast<std::size_t>(sample.held_as)] = sample.held;
        levels[sample.at] = now;
    }
    return levels;
}

void expect_classes_to_add_up(const scenarios::Scenario& scenario, const std::string& what) {
    const PredictionWithTrace plan =
        predict(scenario, {.keep_trace = true, .play_allocator = false});
    for (const RankPrediction& rank : plan.prediction.ranks) {
        const MemoryPeak& peak = plan.trace.peaks[static_cast<std::size_t>(rank.rank.index)];
        EXPECT_EQ(total(rank.memory), rank.peak_memory) << what;
        EXPECT_FALSE(is_negative(rank.memory))
            << what << ": " << rank.peak_op << text_of(rank.memory);
        EXPECT_EQ(peak.held, rank.memory) << what;
        for (const auto& [at, held] : levels(plan.trace, rank.rank)) {
            ASSERT_FALSE(is_negative(held))
                << what << " at " << at.time_since_epoch().count() << text_of(held);
            ASSERT_LE(total(held), rank.peak_memory)
                << what << " at " << at.time_since_epoch().count();
            if (at == peak.at && !peak.op.empty()) {
                ASSERT_EQ(text_of(held), text_of(peak.held)) << what;
            }
        }
    }
}

TEST(MemoryByClass, AddsUpInEveryShippedScenario) {
    for (const std::string& name : scenarios::shipped_scenarios())
        expect_classes_to_add_up(scenarios::read_scenario(name), name);
}

/// A tensor that the weight pass takes over from the input pass.
TEST(MemoryByClass, AddsUpForExpertsWithASplitBackward) {
    for (const char* schedule : {"zb-h1", "zb-v"})
        for (const char* zero : {"0", "2"})
            for (const char* name : {"mixtral-8x7b", "tales-experts"}) {
                std::vector<scenarios::Override> changes = {
                    {"parallel.zero_stage", zero},
                    {"schedule", schedule},
                    {"parallel.stages_per_rank", schedule == std::string("zb-v") ? "2" : "1"}};
                if (name == std::string("tales-experts")) {
                    changes.push_back({"gpus", "4"});
                    changes.push_back({"parallel.data", "2"});
                }
                expect_classes_to_add_up(scenarios::read_scenario(name, changes),
                                         fmt::format("{} {} {}", name, schedule, zero));
            }
}

/// One of them, by chance.
const std::string& one_of(std::mt19937& random, const std::vector<std::string>& all) {
    return all[random() % all.size()];
}

const std::vector<std::string> kModels = {
    "{family: gpt2, layers: 8, hidden: 256, heads: 8, vocab: 1000, max_positions: 256}",
    "{family: llama, layers: 8, hidden: 256, heads: 8, kv_heads: 4, ffn: 512, vocab: 4000, "
    "max_positions: 256}",
    "{family: llama, layers: 8, hidden: 256, heads: 8, kv_heads: 2, ffn: 384, vocab: 257, "
    "max_positions: 256, experts: 8, experts_per_token: 2}"};

/// A job that may be impossible.
std::string random_job(std::mt19937& random) {
    const auto chance = [&](int of) { return random() % of == 0; };
    const auto flag = [&](int of) { return chance(of) ? "true" : "false"; };
    const Generator& generator = generators()[random() % generators().size()];
    const int pipeline = chance(5) ? 1 : chance(2) ? 2 : 4;
    const int stages = generator.stages_per_rank.value_or(chance(2) ? 2 : 1);
    const bool sliced = generator.name == "seq-1f1b";
    const int tensor = chance(3) ? 2 : 1;
    const int context = chance(4) ? 2 : 1;
    const int data = 1 << random() % 3;
    const int zero = data * context > 1 ? static_cast<int>(random() % 4) : 0;
    const std::string& model = kModels[random() % kModels.size()];
    const bool experts = model.find("experts") != std::string::npos;
    std::string text = "model: " + model + "\n";
    text += fmt::format("cluster: dgx-a100-80gb\ngpus: {}\n", pipeline * tensor * context * data);
    text += fmt::format(
        "parallel: {{pipeline: {}, tensor: {}, context: {}, data: {}, stages_per_rank: {}, "
        "zero_stage: {}, sequence: {}, wrap: {}{}{}}}\n",
        pipeline, tensor, context, data, stages, zero, experts && tensor > 1 ? "true" : flag(2),
        pipeline == 1 || chance(2) ? "layer" : "stage",
        chance(4) ? ", communication_dtype: bf16" : "", experts && chance(3) ? ", expert: 2" : "");
    text += fmt::format("schedule: {{name: {}{}}}\n", generator.name, sliced ? ", slices: 2" : "");
    text += fmt::format(
        "framework: {{base: {}, loss: {}, main_grad_buffer: {}, post_validation: {}}}\n",
        one_of(random, {"megatron-2021", "megatron-2024", "pytorch-eager", "debubble"}),
        one_of(random, {"unfused", "chunked", "eager-pytorch", "megatron-fused"}), flag(2),
        flag(4));
    text += fmt::format(
        "training: {{micro_batches: {}, micro_batch: {}, global_batch: {}, seq_length: 128, "
        "precision: {}, recompute: {}{}}}\n",
        2 * pipeline, 1, 2 * pipeline * data, one_of(random, {"bf16", "fp32", "fp16"}),
        one_of(random, {"none", "selective", "full"}),
        chance(4) && !sliced ? ", offload: {layers: 2, min_offloaded_tensor_size: 1}" : "");
    return text;
}

TEST(MemoryByClass, AddsUpInAnyJob) {
    std::mt19937 random(1);
    int possible = 0;
    constexpr int kJobs = 600;
    for (int i = 0; i < kJobs && !HasFailure(); ++i) {
        const std::string text = random_job(random);
        try {
            expect_classes_to_add_up(scenarios::parse_scenario(text, "random.yaml"), text);
            ++possible;
        } catch (const InputError& error) {
            // No such plan.
        }
    }
    EXPECT_GT(possible, kJobs / 4);
}

}  // namespace
}  // namespace debubble::sim
