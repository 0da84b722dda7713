#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"

/// Peaks of torchtitan's Llama 3.1 8B by hand: two sequences of 8192 tokens on each of 128 GPUs,
/// checkpoints per operator, at the loss's backward.
namespace debubble::sim {
namespace {

constexpr double kTokens = 2 * 8192;
constexpr double kHidden = 4096;
constexpr double kFfn = 14336;
constexpr double kVocab = 128256;
constexpr double kLayers = 32;
constexpr double kHeads = 32;
constexpr double kKeys = 1024;  ///< columns of keys, and of values
constexpr double kParameters = 8'030'261'248;
constexpr double kWorkspace = 2 * 32 * 1024 * 1024;  ///< cuBLAS on Hopper, of two threads
constexpr double kGib = 1024.0 * 1024 * 1024;

RankPrediction rank_of(const std::string& framework, int gpus = 128) {
    const auto scenario = scenarios::parse_scenario(
        fmt::format("model: llama3.1-8b\ncluster: hgx-h100\ngpus: {}\n"
                    "parallel: {{zero_stage: 3, wrap: layer}}\n"
                    "training: {{global_batch: {}, micro_batch: 2, seq_length: 8192}}\n"
                    "framework: {}\n",
                    gpus, 2 * gpus, framework),
        "titan.yaml");
    return predict(scenario).prediction.ranks.front();
}

/// A layer's input, queries, values, attention's output with its sums, and the gate: what is
/// neither made again nor unread.
double kept_of_layers(bool unread) {
    const double product = 2 * kTokens * kHidden;  // queries, or the MLP's output
    const double layer = (unread ? 4 : 3) * product + 2 * kTokens * kKeys + 4 * kTokens * kHeads +
                         2 * kTokens * kFfn;
    return kLayers * layer + 2 * product;  // the last layer's output and its norm
}

/// The embeddings and the head, which stay whole, and the last layer.
double gathered() {
    const double layer = kHidden * (kHidden + 2 * kKeys) + kHidden * kHidden + 3 * kHidden * kFfn;
    return 2 * (2 * kVocab * kHidden + layer);
}

double at_the_loss(double loss_bytes, bool unread, int gpus) {
    return kept_of_layers(unread) + gathered() + loss_bytes * kTokens * kVocab +
           12 * kParameters / gpus + kWorkspace;
}

void expect_near(Bytes bytes, double by_hand) {
    EXPECT_NEAR(static_cast<double>(bytes.count) / by_hand, 1, 5e-4);
}

TEST(Fsdp2Memory, OfACompiledModelIsThatOfItsLossByHand) {
    expect_near(rank_of("pytorch-compile").peak_memory, at_the_loss(12, false, 128));
    expect_near(rank_of("{base: pytorch-compile, loss: compiled}").peak_memory,
                at_the_loss(4, false, 128));
}

TEST(Fsdp2Memory, OfAnEagerModelHasProductsThatNobodyReads) {
    // Its norm keeps a normalised copy.
    expect_near(rank_of("pytorch-fsdp2").peak_memory,
                at_the_loss(12, true, 128) + 2 * kTokens * kHidden);
}

/// Published: 62 GiB reserved on 128 GPUs compiled, 82.4 on 8 eager (torchtitan b5bcd76,
/// benchmarks/llama3_h100_202412_torchtitan.md).
TEST(Fsdp2Memory, ReservesWhatWasMeasured) {
    const auto reserved = [](const RankPrediction& rank) {
        return static_cast<double>(rank.reserved->count) / kGib;
    };
    EXPECT_NEAR(reserved(rank_of("pytorch-compile")), 62.0, 0.02 * 62);
    EXPECT_NEAR(reserved(rank_of("pytorch-fsdp2", 8)), 82.4, 0.03 * 82.4);
}

TEST(Fsdp2Memory, OfCollectivesIsReservedBesideThatOfTensors) {
    const RankPrediction apart = rank_of("pytorch-compile");
    const RankPrediction shared = rank_of("{base: pytorch-compile, collective_memory: false}");
    EXPECT_EQ(apart.peak_memory, shared.peak_memory);
    // The buffer of a gather, the root's with a layer behind it, the root's shards in bf16, and the
    // shards of the gradients.
    const double more = gathered() + 2 * 2 * kVocab * kHidden / 128 + 4 * kParameters / 128;
    EXPECT_NEAR(static_cast<double>((*apart.reserved - *shared.reserved).count) / more, 1, 0.01);
}

/// An expert of Mixtral on each GPU: nobody shares it, so no collective gathers or reduces it.
TEST(Fsdp2Memory, OfCollectivesHasNoExpertsThatARankAloneHas) {
    const auto reserved = [](const char* framework) {
        const auto scenario = scenarios::parse_scenario(
            fmt::format("model: mixtral-8x7b\ncluster: hgx-h100\ngpus: 8\n"
                        "parallel: {{zero_stage: 3, wrap: layer, expert: 8}}\n"
                        "training: {{global_batch: 8, micro_batch: 1, seq_length: 2048}}\n"
                        "framework: {}\n",
                        framework),
            "experts.yaml");
        return *predict(scenario).prediction.ranks.front().reserved;
    };
    const double root = 2 * 32000 * kHidden;
    const double layer = 2 * kHidden * (kHidden + kKeys) + 8 * kHidden;
    const double more = 2 * (root + layer) + 2 * root / 8 + 4 * (root + kLayers * layer) / 8;
    const Bytes apart = reserved("pytorch-compile");
    const Bytes together = reserved("{base: pytorch-compile, collective_memory: false}");
    EXPECT_NEAR(static_cast<double>((apart - together).count) / more, 1, 0.01);
}

/// In a pipeline the gradients of a stage are whole and in fp32 until the last microbatch.
TEST(Fsdp2Memory, OfAPipelineHasWholeGradients) {
    const auto peak = [](const char* framework) {
        const auto scenario = scenarios::parse_scenario(
            fmt::format("model: llama3.1-8b\ncluster: hgx-h100\ngpus: 16\n"
                        "parallel: {{pipeline: 2, zero_stage: 2}}\nschedule: 1f1b\n"
                        "training: {{micro_batches: 4, micro_batch: 1, seq_length: 2048}}\n"
                        "framework: {}\n",
                        framework),
            "pipeline.yaml");
        const auto ranks = predict(scenario).prediction.ranks;
        return ranks.front().memory[static_cast<std::size_t>(MemoryClass::Gradients)];
    };
    const double whole = static_cast<double>(peak("pytorch-fsdp2").count);
    const double cut =
        static_cast<double>(peak("{base: pytorch-fsdp2, sums_whole_gradients: false}").count);
    // 16 layers and the embedding; seven of eight parts are at other ranks.
    const double layer = kHidden * (kHidden + 2 * kKeys) + kHidden * kHidden + 3 * kHidden * kFfn;
    EXPECT_NEAR((whole - cut) / (4 * 7 / 8.0 * (16 * layer + kVocab * kHidden)), 1, 0.01);
}

/// A stage of two keeps what it sent and a buffer for the gradient of each of its microbatches: the
/// first one's four, of which one is under way anyway. At the first backward no buffer of a
/// gradient is read twice.
TEST(Fsdp2Memory, OfAPipelineHasTheMessagesOfAllMicrobatches) {
    const auto first_rank = [](const char* framework) {
        const auto scenario = scenarios::parse_scenario(
            fmt::format("model: llama3.1-8b\ncluster: hgx-h100\ngpus: 2\n"
                        "parallel: {{pipeline: 2}}\nschedule: gpipe\n"
                        "training: {{micro_batches: 4, micro_batch: 1, seq_length: 2048}}\n"
                        "framework: {}\n",
                        framework),
            "pipeline.yaml");
        return predict(scenario).prediction.ranks.front().peak_memory;
    };
    const Bytes message{2L * 2048 * 4096};
    const Bytes kept = first_rank("pytorch-fsdp2");
    const Bytes sent = first_rank("{base: pytorch-fsdp2, keeps_messages: false}");
    EXPECT_GE(kept - sent, 6 * message);  // four outputs and four buffers, less one of each
    EXPECT_LE(kept - sent, 8 * message);
}

}  // namespace
}  // namespace debubble::sim
