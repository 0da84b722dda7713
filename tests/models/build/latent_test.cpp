#include <cmath>

#include <gtest/gtest.h>

#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "tests/models/architectures.h"
#include "tests/models/held_bytes.h"

/// Latent attention, windows, norms of heads and shared experts against sums by hand.
namespace debubble::models {
namespace {

StageGraph layer_of_model(const char* name, int layer, const Execution& how) {
    return build_stage(read_model(name), how, {layer, 1, false, false});
}

/// DeepSeek-V3 per token: the stream and its norm 4h; the narrow query and its norm 4 x 1536; the
/// narrow keys with the rotated part 2 x 576 and normed 2 x 512; queries and keys 4 x 128 x 192;
/// values and context 4 x 128 x 128; a statistic of each head and of three norms.
TEST(LatentAttention, KeepsWhatTheSumByHandSays) {
    Execution how;
    how.seq_length = 64;
    const std::int64_t token =
        4 * 7168 + 4 * 1536 + 2 * 576 + 2 * 512 + 4 * 128 * 192 + 4 * 128 * 128 + 4 * 128 + 3 * 4;
    const StageGraph graph = layer_of_model("deepseek-v3", 0, how);
    EXPECT_EQ(saved(graph, {"self_attn", "input_layernorm"}), 64 * token);
    EXPECT_NEAR(static_cast<double>(token), 201e3, 500);
}

/// What is cut by heads is an eighth, what is narrow is whole on every rank, or has the rank's
/// tokens.
TEST(LatentAttention, IsCutByHeadsAlone) {
    Execution how;
    how.seq_length = 64;
    how.tensor = how.expert_tensor = 8;
    how.sequence_parallel = true;
    const StageGraph graph = layer_of_model("deepseek-v3", 0, how);
    std::int64_t elements = 0;
    for (const Parameter& parameter : graph.parameters)
        if (parameter.name.find("self_attn") != std::string::npos)
            elements += parameter.elements_of_rank(how);
    const std::int64_t whole = 7168 * 1536 + 1536 + 7168 * 576 + 512;
    const std::int64_t heads = 16;
    EXPECT_EQ(elements, whole + 1536 * heads * 192 + 512 * heads * 256 + heads * 128 * 7168);
    const std::int64_t rows = 8;
    EXPECT_EQ(saved(graph, {"self_attn", "input_layernorm"}),
              rows * (4 * 7168 + 4 * 1536 + 2 * 576 + 2 * 512 + 3 * 4) +
                  64 * heads * (4 * 192 + 4 * 128 + 4));
}

/// Scores and context of every pair: 2 (192 + 128) forward, 2 (3 x 192 + 2 x 128) backward.
TEST(LatentAttention, ComputesOverWideQueriesAndNarrowValues) {
    FlashAttention work{1, 128, 128, 64, 64, 192, false};
    work.narrow_values = 128;
    EXPECT_EQ(flops({"", 0, work}), 2.0 * 128 * 64 * 64 * (192 + 128));
    work.backward = true;
    EXPECT_EQ(flops({"", 0, work}), 2.0 * 128 * 64 * 64 * (3 * 192 + 2 * 128));
}

TEST(Window, PairsAreThoseCountedOneByOne) {
    for (const std::int64_t queries : {1, 7, 64, 100})
        for (const std::int64_t before : {0, 5, 200})
            for (const std::int64_t window : {1, 3, 50, 128, 1000}) {
                FlashAttention work{1, 1, 1, queries, before + queries, 8};
                work.window = window;
                std::int64_t counted = 0;
                for (std::int64_t q = 0; q < queries; ++q)
                    counted += std::min(before + q + 1, window);
                // Positions are continuous in the model: half a pair of each query is the
                // difference.
                EXPECT_NEAR(pairs(work), static_cast<double>(counted),
                            static_cast<double>(queries) / 2 + 1e-9)
                    << queries << " after " << before << ", window " << window;
            }
}

TEST(Window, MakesTheGraphCheaperAndKeepsItsMemory) {
    Execution how;
    how.seq_length = 1024;
    Architecture model = llama(2, 256, 8, 4, 512, 1000);
    const auto work = [&] {
        const StageGraph graph = build_stage(model, how, {0, 1, false, false});
        double sum = 0;
        for (const Kernel& kernel : forward_steps(graph).kernels) sum += flops(kernel);
        return std::pair(sum, saved(graph, {"layers"}));
    };
    const auto whole = work();
    change_layers(model, [](LayerKeys& keys) { keys.window = 128; });
    const auto windowed = work();
    const double pairs_saved = (1024.0 - 128.0) * (1024.0 - 128.0) / 2;
    EXPECT_NEAR(whole.first - windowed.first, 4 * 256 * pairs_saved, 1);
    EXPECT_EQ(whole.second, windowed.second);
    // Two context-parallel ranks share the same work.
    how.context = 2;
    EXPECT_NEAR(2 * work().first, windowed.first, 0.005 * windowed.first);
}

/// An RMS norm of every head: two weights of its width, a copy of queries and keys, a statistic of
/// each.
TEST(QkNorm, AddsACopyOfQueriesAndKeys) {
    Execution how;
    how.seq_length = 64;
    Architecture model = read_model("qwen3-8b");
    const std::int64_t with = saved(build_stage(model, how, {0, 1, false, false}), {"layers"});
    const std::int64_t parameters = parameter_count(model);
    change_layers(model, [](LayerKeys& keys) { keys.qk_norm = QkNorm::None; });
    EXPECT_EQ(parameters - parameter_count(model), 36 * 2 * 128);
    EXPECT_EQ(with - saved(build_stage(model, how, {0, 1, false, false}), {"layers"}),
              64 * (2 * (32 + 8) * 128 + 4 * (32 + 8)));
}

/// The shared expert is an MLP beside the others: 6 h f FLOPs a token forward, cut by tensor
/// parallelism whatever cuts the experts.
TEST(SharedExperts, AreAnMlpBesideTheExperts) {
    Execution how;
    how.seq_length = 64;
    how.expert = 8;
    const auto of = [&](const Architecture& model) {
        const StageGraph graph = build_stage(model, how, {3, 1, false, false});
        double sum = 0;
        for (const Kernel& kernel : forward_steps(graph).kernels) sum += flops(kernel);
        return std::pair(sum, graph.parameter_elements());
    };
    Architecture model = read_model("deepseek-v3");
    const auto with = of(model);
    change_layers(model, [](LayerKeys& keys) { keys.shared_ffn = 0; });
    const auto without = of(model);
    EXPECT_EQ(with.first - without.first, 6.0 * 64 * 7168 * 2048);
    EXPECT_EQ(with.second - without.second, 3 * 7168 * 2048);
}

}  // namespace
}  // namespace debubble::models
