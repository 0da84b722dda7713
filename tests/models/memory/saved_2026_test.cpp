#include <gtest/gtest.h>

#include "models/architecture_reader.h"
#include "models/graph/graph.h"
#include "tests/models/held_bytes.h"

/// What a layer of each kind of 2026 holds between forward and backward on a rank, against sums by
/// hand: its part under tensor and sequence parallelism, and its experts' rows under expert
/// parallelism. Letters are those of models/network/layer.h.
namespace debubble::models::saved_2026 {
namespace {

constexpr std::int64_t kTokens = 256;

struct Cut {
    std::int64_t t = 1;  ///< tensor-parallel ranks, with sequence parallelism
    std::int64_t e = 1;  ///< expert-parallel ranks
    std::int64_t own() const { return kTokens / t; }  ///< tokens of the rank's stream
};
constexpr Cut kCuts[] = {{1, 1}, {1, 8}, {2, 8}, {4, 16}};

/// Bytes that the layer holds as the last of a stage.
std::int64_t held(const char* name, int layer, const Cut& cut) {
    const Architecture network = read_model(name);
    Execution how;
    how.seq_length = kTokens;
    how.tensor = static_cast<int>(cut.t);
    how.sequence_parallel = cut.t > 1;
    how.expert = static_cast<int>(cut.e);
    const auto of = [&](int layers) {
        return held_after_forward(build_stage(network, how, {layer - 1, layers, false, false}));
    };
    return of(2) - of(1);
}

/// A part's input, its norm and the norm's statistics.
std::int64_t part(const Cut& cut, std::int64_t h) {
    return cut.own() * (4 * h + 4);
}

struct Mixture {
    std::int64_t count, chosen, ffn, width, shared;
    bool keeps_logits = true;
    std::int64_t gates = 2;  ///< 2 if the MLPs are gated
};
/// Scores in fp32, and logits where the choice is no softmax of its own; rows before the products,
/// between them and after; and the shared expert's inner values.
std::int64_t mixture(const Cut& cut, const Mixture& x) {
    const std::int64_t rows = cut.own() * x.chosen;
    return cut.own() * (x.keeps_logits ? 8 : 4) * x.count +
           2 * rows * (2 * x.width + (x.gates + 1) * x.ffn) +
           2 * kTokens / cut.t * (x.gates + 1) * x.shared;
}

TEST(Saved2026, GatedDeltaNets) {
    constexpr std::int64_t h = 4096, k = 2048, v = 8192, heads = 64;
    for (const Cut& cut : kCuts) {
        const std::int64_t net = 2 * (2 * k + 2 * v + 2 * heads) + 2 * (2 * k + v) + 2 * 3 * v +
                                 6 * heads + 2 * 64 * heads + 2 * 2 * v + 4 * heads;
        // The shared expert's result is kept for its gate.
        const std::int64_t gate = cut.own() * (2 * h + 4);
        EXPECT_EQ(held("qwen3.5-397b-a17b", 1, cut),
                  2 * part(cut, h) + kTokens / cut.t * net +
                      mixture(cut, {512, 10, 1024, h, 1024, false}) + gate)
            << cut.t << " " << cut.e;
    }
}

/// With the gate of each column of the result.
TEST(Saved2026, GatedAttention) {
    constexpr std::int64_t h = 4096, a = 32, kv = 2, d = 256;
    for (const Cut& cut : {Cut{1, 8}, Cut{2, 8}}) {
        const std::int64_t heads =
            2 * (a + 2 * kv) * d + (2 * d + 4) * (a + kv) + 2 * a * d + 4 * a + 2 * 2 * a * d;
        const std::int64_t gate = cut.own() * (2 * h + 4);
        EXPECT_EQ(held("qwen3.5-397b-a17b", 3, cut),
                  2 * part(cut, h) + kTokens / cut.t * heads +
                      mixture(cut, {512, 10, 1024, h, 1024, false}) + gate)
            << cut.t << " " << cut.e;
    }
}

/// Narrow values are of the stream's tokens; the key, and all of the indexer, is whole on each
/// rank.
TEST(Saved2026, SparseAttentionWithAnIndexer) {
    constexpr std::int64_t h = 6144, a = 64, q = 2048, rank = 512, rope = 64, v = 256;
    constexpr std::int64_t n = 32, d = 128, key = rank + rope;
    for (const Cut& cut : kCuts) {
        const std::int64_t narrow = 4 * q + 4 + 2 * key + 4;
        const std::int64_t whole = 2 * key + 2 * n * d + 2 * d + 2 * n + 4 * kTokens;
        const std::int64_t heads =
            2 * a * (192 + rope) + 2 * a * key + 2 * a * rank + 2 * a * v + 4 * a;
        EXPECT_EQ(held("glm-5", 5, cut), 2 * part(cut, h) + cut.own() * narrow + kTokens * whole +
                                             kTokens / cut.t * heads +
                                             mixture(cut, {256, 8, 2048, h, 2048}))
            << cut.t << " " << cut.e;
    }
}

/// Around each part four streams, coefficients before and after their rounds, and its result; keys,
/// entries and the compressors' products are whole on each rank.
TEST(Saved2026, HyperConnectionsAndCompressedKeys) {
    constexpr std::int64_t h = 4096, a = 64, d = 512, q = 1024, groups = 8, out = 1024, n = 4;
    constexpr std::int64_t index = 128;
    for (const Cut& cut : kCuts) {
        const std::int64_t streams = 2 * n * h + 8 * (n * n + 2 * n) + 2 * h;
        const std::int64_t narrow = 4 * q + 4 + 2 * d + 4;
        const std::int64_t entries = 2 * d * 5 / 4 + 16 * d + 16 * index + 4 * kTokens / 4;
        const std::int64_t heads = 4 * a * d + 4 * a * d + 4 * a + 2 * groups * out;
        EXPECT_EQ(held("deepseek-v4-flash", 4, cut),
                  2 * part(cut, h) + cut.own() * (2 * streams + narrow) + kTokens * entries +
                      kTokens / cut.t * heads + mixture(cut, {256, 6, 2048, h, 2048}))
            << cut.t << " " << cut.e;
    }
}

/// The values between the two products into decays, and into the gate, are of the stream's tokens.
TEST(Saved2026, KimiDeltaAttention) {
    constexpr std::int64_t h = 2304, heads = 32, p = 4096;
    for (const Cut& cut : kCuts) {
        const std::int64_t net = 2 * (3 * p + heads) + 2 * p + 2 * p + 6 * p + 4 * heads +
                                 2 * 64 * heads + 4 * 64 * heads + 8 * heads + 2 * p + 4 * heads +
                                 2 * p;
        EXPECT_EQ(held("kimi-linear-48b-a3b", 2, cut), 2 * part(cut, h) + cut.own() * 2 * 2 * 128 +
                                                           kTokens / cut.t * net +
                                                           mixture(cut, {256, 8, 1024, h, 1024}))
            << cut.t << " " << cut.e;
    }
}

TEST(Saved2026, StateSpacesOfHybrids) {
    constexpr std::int64_t h = 8192, inner = 16'384, groups = 8;
    constexpr std::int64_t projected = 2 * inner + 2 * groups * 128 + 256;
    for (const Cut& cut : kCuts)
        EXPECT_EQ(held("nemotron-3-ultra", 2, cut),
                  part(cut, h) + kTokens / cut.t * (2 * projected + 3 * 2 * inner + 4 * groups))
            << cut.t;
}

/// Rows travel and are kept at the narrower width; what they give is kept for the product back.
TEST(Saved2026, LatentExperts) {
    constexpr std::int64_t h = 8192, narrow = 2048;
    for (const Cut& cut : kCuts)
        EXPECT_EQ(held("nemotron-3-ultra", 3, cut),
                  part(cut, h) + cut.own() * 2 * narrow +
                      mixture(cut, {512, 22, 5120, narrow, 10'240, true, 1}))
            << cut.t << " " << cut.e;
}

}  // namespace
}  // namespace debubble::models::saved_2026
