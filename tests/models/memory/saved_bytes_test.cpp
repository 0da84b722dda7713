#include <gtest/gtest.h>

#include "models/graph/graph.h"
#include "tests/models/architectures.h"
#include "tests/models/held_bytes.h"

/// What a microbatch holds between forward and backward, against closed forms.
namespace debubble::models {
namespace {

std::int64_t held_of_layers(const Architecture& model, const Execution& how, int layers) {
    return held_after_forward(build_stage(model, how, {0, layers, false, false}));
}

std::int64_t saved_by_a_layer(const Architecture& model, const Execution& how) {
    return held_of_layers(model, how, 2) - held_of_layers(model, how, 1);
}

struct Shape {
    std::int64_t s, b, h, a;
    std::int64_t t;
};
constexpr Shape kShapes[] = {
    {64, 1, 256, 8, 1}, {128, 2, 512, 16, 2}, {256, 4, 768, 12, 4}, {2048, 1, 2304, 24, 8}};

Execution korthikanti(const Shape& shape) {
    Execution how;
    how.micro_batch = shape.b;
    how.seq_length = shape.s;
    how.tensor = static_cast<int>(shape.t);
    how.attention = AttentionKernel::Unfused;
    how.hidden_dropout = how.attention_dropout = true;
    return how;
}

Architecture model_of(const Shape& shape) {
    return gpt(4, shape.h, shape.a, 50257, 4096);
}

/// Korthikanti et al. 2022, table 2. The mean and deviation of two layer norms, which
/// the paper leaves out, are 16 bytes per token.
TEST(SavedBytes, OfALayerAreKorthikantisWithTensorParallelism) {
    for (const Shape& x : kShapes) {
        const std::int64_t sbh = x.s * x.b * x.h, scores = x.a * x.s * x.s * x.b;
        EXPECT_EQ(saved_by_a_layer(model_of(x), korthikanti(x)),
                  10 * sbh + 24 * sbh / x.t + 5 * scores / x.t + 16 * x.s * x.b);
    }
}

TEST(SavedBytes, OfALayerAreCutWholeBySequenceParallelism) {
    for (const Shape& x : kShapes) {
        Execution how = korthikanti(x);
        how.sequence_parallel = true;
        const std::int64_t sbh = x.s * x.b * x.h, scores = x.a * x.s * x.s * x.b;
        EXPECT_EQ(saved_by_a_layer(model_of(x), how),
                  (34 * sbh + 5 * scores + 16 * x.s * x.b) / x.t);
        how.recompute = Recompute::Selective;
        EXPECT_EQ(saved_by_a_layer(model_of(x), how), (34 * sbh + 16 * x.s * x.b) / x.t);
    }
}

TEST(SavedBytes, OfAFullyRecomputedLayerAreItsInput) {
    for (const Shape& x : kShapes) {
        Execution how = korthikanti(x);
        how.recompute = Recompute::Full;
        EXPECT_EQ(saved_by_a_layer(model_of(x), how), 2 * x.s * x.b * x.h);
    }
}

/// Two normed copies and two inputs, queries, keys, values, context and its log-sum-exp,
/// both halves of the MLP and their product; RMS statistics 4 bytes per token.
TEST(SavedBytes, OfALlamaLayerWithFlashAttention) {
    for (const std::int64_t t : {1, 2, 4}) {
        for (const bool sequence : {false, true}) {
            const Architecture model = llama(4, 1024, 16, 4, 2816, 32000);
            Execution how;
            how.micro_batch = 2;
            how.seq_length = 512;
            how.tensor = static_cast<int>(t);
            how.sequence_parallel = sequence;
            const std::int64_t tokens = 1024, stream = sequence ? tokens / t : tokens;
            const std::int64_t q = 1024 / t, kv = 256 / t, f = 2816 / t, a = 16 / t;
            EXPECT_EQ(saved_by_a_layer(model, how),
                      4 * 2 * stream * 1024 + 2 * 4 * stream + 2 * tokens * (q + 2 * kv) +
                          2 * tokens * q + 4 * tokens * a + 2 * tokens * 2 * f + 2 * tokens * f);
        }
    }
}

/// The same paper's figure 1 model sizes: no term depends on the number of layers.
TEST(SavedBytes, GrowLinearlyWithLayersAndSamples) {
    for (const Shape& x : kShapes) {
        Execution how = korthikanti(x);
        const std::int64_t one = held_of_layers(model_of(x), how, 1);
        const std::int64_t layer = saved_by_a_layer(model_of(x), how);
        EXPECT_EQ(held_of_layers(model_of(x), how, 4), one + 3 * layer);
        how.micro_batch *= 2;
        EXPECT_EQ(saved_by_a_layer(model_of(x), how), 2 * layer);
    }
}

}  // namespace
}  // namespace debubble::models
