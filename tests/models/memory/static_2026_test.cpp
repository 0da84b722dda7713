#include <gtest/gtest.h>

#include "models/architecture_reader.h"
#include "models/graph/graph.h"
#include "models/memory/static_memory.h"

/// Static memory of a rank with a part of the layers (PP) and of the experts (EP), against sums by
/// hand of one network of each kind of 2026. Letters are those of models/network/layer.h: h hidden,
/// a heads, d their width, f the inner width of an MLP.
namespace debubble::models::static_2026 {
namespace {

struct Sums {
    std::int64_t dense = 0;
    std::int64_t expert = 0;
};

/// bf16 with fp32 gradients, main parameters and moments, whose state ZeRO-1 cuts over 64 replicas,
/// and that of experts over 4: 6 bytes a parameter, and 12 of its share.
void expect_static(const char* name, int expert, const StageContent& content, const Sums& by_hand) {
    Execution how;
    how.seq_length = 4096;
    how.expert = expert;
    const StageGraph graph = build_stage(read_model(name), how, content);
    const ParameterCount count = graph.parameter_count();
    EXPECT_EQ(count.dense, by_hand.dense) << name;
    EXPECT_EQ(count.expert, by_hand.expert) << name;
    StaticPolicy policy;
    policy.zero_stage = 1;
    policy.shards = 64;
    policy.expert_shards = 4;
    const std::int64_t share = (by_hand.dense + 63) / 64 + (by_hand.expert + 3) / 4;
    EXPECT_EQ(total(static_memory(graph, policy).held),
              Bytes{6 * (by_hand.dense + by_hand.expert) + 12 * share})
        << name;
}

/// Queries, keys, values and the product back.
constexpr std::int64_t grouped_attention(std::int64_t h, std::int64_t a, std::int64_t kv,
                                         std::int64_t d) {
    return h * d * (2 * a + 2 * kv);
}
constexpr std::int64_t gated_mlp(std::int64_t h, std::int64_t f) {
    return 3 * h * f;
}

TEST(Static2026, GatedDeltaNetsAndGatedAttention) {
    constexpr std::int64_t h = 4096, keys = 16 * 128, values = 64 * 128, vocab = 248'320;
    constexpr std::int64_t net =
        h * (2 * keys + 2 * values + 2 * 64) + 4 * (2 * keys + values) + 2 * 64 + 128 + values * h;
    constexpr std::int64_t attention = h * 256 * (3 * 32 + 2 * 2) + 2 * 256;
    constexpr std::int64_t mixture = 512 * h + gated_mlp(h, 1024) + h + 2 * h;
    expect_static("qwen3.5-397b-a17b", 64, {56, 4, false, true},
                  {3 * net + attention + 4 * mixture + vocab * h + h, 4 * 8 * gated_mlp(h, 1024)});
}

TEST(Static2026, VisionTowerInTheFirstStage) {
    constexpr std::int64_t h = 4096, w = 1152, f = 4304, wide = 4 * w, vocab = 151'936;
    constexpr std::int64_t block = 4 * w + 4 * w * w + 4 * w + 2 * w * f + f + w;
    constexpr std::int64_t merger = wide * wide + wide + wide * h + h;
    constexpr std::int64_t tower =
        1536 * w + w + 2304 * w + 27 * block + 2 * w + merger + 3 * (2 * wide + merger);
    constexpr std::int64_t layer = grouped_attention(h, 64, 4, 128) + 2 * 128 + 2 * h + 128 * h;
    expect_static("qwen3-vl-235b-a22b", 8, {0, 12, true, false},
                  {tower + vocab * h + 12 * layer, 12 * 16 * gated_mlp(h, 1536)});
}

TEST(Static2026, IndexersBesideLatentAttention) {
    constexpr std::int64_t h = 6144, a = 64, rank = 2048, latent = 512;
    constexpr std::int64_t attention = h * rank + rank + rank * a * 256 + h * (latent + 64) +
                                       latent + latent * a * (192 + 256) + a * 256 * h;
    constexpr std::int64_t indexer = rank * 32 * 128 + h * 128 + 2 * 128 + h * 32;
    constexpr std::int64_t layer = attention + indexer + 2 * h + 256 * h + gated_mlp(h, 2048);
    expect_static("glm-5", 32, {10, 10, false, false}, {10 * layer, 10 * 8 * gated_mlp(h, 2048)});
}

/// Layers 4 to 9: three that choose entries of 4 tokens, and three that see all of 128.
TEST(Static2026, CompressedKeysAndStreams) {
    constexpr std::int64_t h = 4096, rank = 1024, a = 64, d = 512, n = 4, index = 128;
    constexpr std::int64_t attention =
        h * rank + rank + rank * a * d + h * d + d + a * d * 1024 + 8 * 1024 * h + a;
    constexpr std::int64_t chosen =
        4 * h * d + 8 * d + d + 4 * h * index + 8 * index + index + rank * 64 * index + 64 * h;
    constexpr std::int64_t all = 2 * h * d + 128 * d + d;
    constexpr std::int64_t streams = 2 * ((n * n + 2 * n) * (n * h + 1) + 3);
    constexpr std::int64_t layer = attention + streams + 2 * h + 256 * h + gated_mlp(h, 2048);
    expect_static("deepseek-v4-flash", 64, {4, 6, false, false},
                  {6 * layer + 3 * (chosen + all), 6 * 4 * gated_mlp(h, 2048)});
}

/// Six layers of Kimi Delta Attention, the first with a dense MLP, and two of latent attention.
TEST(Static2026, ChannelDecays) {
    constexpr std::int64_t h = 2304, p = 32 * 128, heads = 32, vocab = 163'840;
    constexpr std::int64_t net =
        4 * h * p + 12 * p + 2 * (128 * h + 128 * p) + p + heads + h * heads + 128;
    constexpr std::int64_t latent =
        h * heads * 192 + h * (512 + 64) + 512 + 512 * heads * 256 + heads * 128 * h;
    constexpr std::int64_t mixture = 256 * h + gated_mlp(h, 1024);
    expect_static("kimi-linear-48b-a3b", 8, {0, 8, true, false},
                  {vocab * h + 6 * net + 2 * latent + 8 * 2 * h + gated_mlp(h, 9216) + 7 * mixture,
                   7 * 32 * gated_mlp(h, 1024)});
}

TEST(Static2026, ChosenBlocks) {
    constexpr std::int64_t h = 6144;
    constexpr std::int64_t indexer = h * 4 * 128 + h * 128 + 2 * 128;
    constexpr std::int64_t layer =
        grouped_attention(h, 64, 4, 128) + 2 * 128 + indexer + 2 * h + 128 * h + gated_mlp(h, 3072);
    expect_static("minimax-m3", 16, {3, 15, false, false},
                  {15 * layer, 15 * 8 * gated_mlp(h, 3072)});
}

/// Four layers of Mamba-2, four of experts at a narrower width, and one of attention.
TEST(Static2026, LatentExpertsBetweenStateSpaces) {
    constexpr std::int64_t h = 8192, inner = 256 * 64, mixed = inner + 2 * 8 * 128;
    constexpr std::int64_t mamba =
        h * (inner + mixed + 256) + 5 * mixed + 3 * 256 + inner + inner * h + h;
    constexpr std::int64_t attention = grouped_attention(h, 64, 2, 128) + h;
    constexpr std::int64_t mixture = h + 512 * h + 2 * h * 2048 + 2 * h * 10'240;
    expect_static("nemotron-3-ultra", 32, {0, 9, true, false},
                  {131'072 * h + 4 * mamba + attention + 4 * mixture, 4 * 16 * 2 * 2048 * 5120});
}

/// Five layers with windows and one without, each with a dense MLP beside its experts; the
/// embedding is the head, too. An expert's factor is not part of the expert.
TEST(Static2026, ExpertsBesideAnMlp) {
    constexpr std::int64_t h = 2816, w = 1152, f = 4304;
    constexpr std::int64_t tower =
        768 * w + 20'480 * w + 27 * (4 * w * w + 3 * w * f + 4 * w + 2 * 72) + w * h;
    constexpr std::int64_t window = grouped_attention(h, 16, 8, 256) + 2 * 256;
    constexpr std::int64_t whole = h * 512 * (2 * 16 + 2) + 2 * 512;
    constexpr std::int64_t mixture = gated_mlp(h, 2112) + 128 * h + h + 128 + 7 * h;
    expect_static(
        "gemma-4-26b-a4b", 8, {0, 6, true, false},
        {tower + 262'144 * h + 5 * window + whole + 6 * mixture, 6 * 16 * gated_mlp(h, 704)});
}

/// Five layers with windows, sinks and 8 key heads, and one with 4.
TEST(Static2026, ValuesNarrowerThanKeys) {
    constexpr std::int64_t h = 4096, a = 64;
    const auto attention = [](std::int64_t kv) {
        return h * a * 192 + kv * h * (192 + 128) + a * 128 * h;
    };
    expect_static("mimo-v2-flash", 32, {6, 6, false, false},
                  {5 * (attention(8) + a) + attention(4) + 6 * (2 * h + 256 * h),
                   6 * 8 * gated_mlp(h, 2048)});
}

TEST(Static2026, GatesOfHeads) {
    constexpr std::int64_t h = 4096;
    constexpr std::int64_t layer =
        grouped_attention(h, 64, 8, 128) + 2 * 128 + 64 * h + 2 * h + 288 * h + gated_mlp(h, 1280);
    expect_static("step-3.7-flash", 32, {3, 4, false, false},
                  {4 * layer, 4 * 9 * gated_mlp(h, 1280)});
}

}  // namespace
}  // namespace debubble::models::static_2026
