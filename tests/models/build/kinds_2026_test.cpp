#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "models/partition/partition.h"
#include "tests/models/architectures.h"
#include "tests/models/change_layers.h"
#include "tests/support/source_folder.h"

/// The kinds of layers of 2025 and 2026 against sums by hand, of 64 tokens of one sample: what a
/// rank keeps between forward and backward, FLOPs, parameters, and what goes between stages.
namespace debubble::models::kinds_2026 {
namespace {

constexpr std::int64_t kTokens = 64;
constexpr double kPairs = 0.5 * 64 * 64;  ///< of a head, causal

Execution how_of(int tensor) {
    Execution how;
    how.seq_length = kTokens;
    how.tensor = how.expert_tensor = tensor;
    how.sequence_parallel = tensor > 1;
    return how;
}

StageGraph layer_of_zoo(const char* name, int layer, int tensor = 1) {
    return build_stage(read_model(name), how_of(tensor), {layer, 1, false, false});
}

/// 2 FLOPs for each product of so many factors, exactly.
double twice(std::int64_t products) {
    return static_cast<double>(2 * products);
}

bool is_named(const Operator& op, const std::set<std::string>& names) {
    for (const std::string& name : names)
        if (op.name.find(name) != std::string::npos) return true;
    return false;
}

const std::set<std::string> kAttention{"self_attn", "linear_attn", "input_layernorm"};

/// Bytes that the operators of attention and the norm before it save, each tensor once.
std::int64_t kept(const StageGraph& graph, const std::set<std::string>& names = kAttention) {
    std::set<int> tensors;
    for (const Operator& op : graph.operators)
        if (is_named(op, names)) tensors.insert(op.saved.begin(), op.saved.end());
    std::int64_t bytes = 0;
    for (const int tensor : tensors)
        bytes += graph.tensors[static_cast<std::size_t>(tensor)].bytes.count;
    return bytes;
}

double forward_flops(const StageGraph& graph, const std::set<std::string>& names = kAttention) {
    double sum = 0;
    for (const Operator& op : graph.operators)
        if (is_named(op, names))
            for (const Kernel& kernel : op.forward) sum += flops(kernel);
    return sum;
}

std::int64_t parameters(const StageGraph& graph, const std::set<std::string>& names) {
    std::int64_t sum = 0;
    for (const Parameter& parameter : graph.parameters)
        for (const std::string& name : names)
            if (parameter.name.find(name) != std::string::npos)
                sum += parameter.elements_of_rank(graph.execution);
    return sum;
}

/// Stream and norm 4 h and a statistic.
constexpr std::int64_t normed(std::int64_t h) {
    return 4 * h + 4;
}

TEST(Kinds2026, ValuesNarrowerThanKeys) {
    constexpr std::int64_t h = 4096, a = 64, kv = 8;
    const StageGraph graph = layer_of_zoo("mimo-v2-flash", 1);
    EXPECT_EQ(kept(graph),
              kTokens * (normed(h) + 2 * (a * 192 + kv * 192 + kv * 128) + 2 * a * 128 + 4 * a));
    EXPECT_EQ(forward_flops(graph), 2.0 * kTokens * (h * (a * 192 + kv * 320) + a * 128 * h) +
                                        2.0 * a * kPairs * (192 + 128));
    EXPECT_EQ(parameters(graph, {"self_attn"}), h * a * 192 + kv * h * 320 + a * 128 * h + a);
    // Half of all heads, and of their sinks.
    EXPECT_EQ(parameters(layer_of_zoo("mimo-v2-flash", 1, 2), {"self_attn"}),
              (h * a * 192 + kv * h * 320 + a * 128 * h + a) / 2);
}

TEST(Kinds2026, AGatePerHead) {
    constexpr std::int64_t h = 4096, a = 64, kv = 8, d = 128;
    const StageGraph graph = layer_of_zoo("step-3.7-flash", 0);
    const std::int64_t heads = a + 2 * kv;
    EXPECT_EQ(kept(graph), kTokens * (normed(h) + 2 * heads * d + 2 * (a + kv) * d + 4 * (a + kv) +
                                      2 * a * d + 4 * a + 2 * a + 2 * a * d));
    EXPECT_EQ(forward_flops(graph),
              2.0 * kTokens * h * (heads * d + a + a * d) + 2.0 * a * kPairs * 2 * d);
    EXPECT_EQ(parameters(graph, {"self_attn"}), h * d * (2 * a + 2 * kv) + 2 * d + h * a);
}

TEST(Kinds2026, KeysThatAreTheValues) {
    constexpr std::int64_t h = 5376, a = 32, kv = 4, d = 512;
    const StageGraph graph = layer_of_zoo("gemma-4-31b", 5);
    // Queries, keys and values for attention, queries and keys before their norms, statistics.
    EXPECT_EQ(kept(graph), kTokens * (normed(h) + 2 * (a + 2 * kv) * d + 2 * (a + kv) * d +
                                      4 * (a + kv) + 4 * kv + 2 * a * d + 4 * a));
    EXPECT_EQ(forward_flops(graph),
              2.0 * kTokens * h * (2 * a + kv) * d + 2.0 * a * kPairs * 2 * d);
    EXPECT_EQ(parameters(graph, {"self_attn"}), h * d * (2 * a + kv) + 2 * d);
}

/// Both branches' outputs are kept for their norms, and the router and the experts are beside.
TEST(Kinds2026, ExpertsBesideAnMlp) {
    constexpr std::int64_t h = 2816, experts = 128, f = 704, dense = 2112;
    const StageGraph graph = layer_of_zoo("gemma-4-26b-a4b", 0);
    EXPECT_EQ(parameters(graph, {"mlp", "feedforward"}),
              3 * h * dense + experts * h + 3 * experts * h * f + h + experts + 2 * h + 3 * h);
    EXPECT_EQ(kept(graph, {"post_feedforward_layernorm_1", "post_feedforward_layernorm_2"}),
              kTokens * 2 * (2 * h + 4));
}

struct Absorbed {
    std::int64_t h = 6144, a = 64, q = 2048, rank = 512, rope = 64, own = 192, v = 256;
    std::int64_t n = 32, d = 128;
    std::int64_t weights() const {
        return h * q + q + q * a * (own + rope) + h * (rank + rope) + rank + rank * a * (own + v) +
               a * v * h;
    }
    std::int64_t indexer() const { return q * n * d + h * d + 2 * d + h * n; }
};

TEST(Kinds2026, AttentionOverChosenKeys) {
    const Absorbed x;
    const StageGraph graph = layer_of_zoo("glm-5", 0);
    const std::int64_t key = x.rank + x.rope;
    // The normed latent value is in the key, which has the rotated columns too.
    EXPECT_EQ(kept(graph),
              kTokens * (normed(x.h) + 4 * x.q + 4 + 2 * key + 4 + 2 * x.a * (x.own + x.rope) +
                         2 * x.a * key + 2 * key + 2 * x.a * x.rank + 2 * x.a * x.v + 4 * x.a +
                         2 * x.n * x.d + 2 * x.d + 2 * x.n + 4 * kTokens));
    const auto products = static_cast<double>(x.weights() - x.q - x.rank + x.indexer() - 2 * x.d);
    EXPECT_EQ(forward_flops(graph),
              2 * kTokens * products + kPairs * twice(x.n * (x.d + 1) + x.a * (key + x.rank)));
    EXPECT_EQ(parameters(graph, {"self_attn"}), x.weights() + x.indexer());
    // Two ranks halve the heads alone; what is narrow and the indexer are whole on both.
    const std::int64_t heads =
        x.q * x.a * (x.own + x.rope) + x.rank * x.a * (x.own + x.v) + x.a * x.v * x.h;
    EXPECT_EQ(parameters(layer_of_zoo("glm-5", 0, 2), {"self_attn"}),
              x.weights() + x.indexer() - heads / 2);
}

/// With 2048 of 8192 keys: K (K + 1) / 2 + (s - K) K pairs, as a window has them.
TEST(Kinds2026, PairsOfChosenKeysAreThoseOfAWindow) {
    Execution how;
    how.seq_length = 8192;
    const StageGraph graph = build_stage(read_model("glm-5"), how, {0, 1, false, false});
    double pairs = 0;
    for (const Operator& op : graph.operators)
        for (const Kernel& kernel : op.forward)
            if (const auto* core = std::get_if<FlashAttention>(&kernel.work))
                pairs += flops(kernel) / twice(64 * (core->head_dim + core->value_dim()));
    EXPECT_EQ(pairs, 2048.0 * 2048 / 2 + (8192.0 - 2048) * 2048);
}

TEST(Kinds2026, LayersThatShareAChoiceStandWithItsLayer) {
    const Architecture glm = read_model("glm-5.2");
    EXPECT_NO_THROW(build_stage(glm, how_of(1), {2, 4, false, false}));
    try {
        build_stage(glm, how_of(1), {3, 4, false, false});
        FAIL() << "a stage began at a layer without a choice";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("layer 3 reuses the keys selected by layer 2"),
                  std::string::npos);
    }
    // 57 of 78 layers have no indexer.
    EXPECT_EQ(parameter_count(read_model("glm-5")) - parameter_count(glm),
              57 * Absorbed{}.indexer());
}

TEST(Kinds2026, UniformStagesBeginAtLayersThatChoose) {
    const Architecture glm = read_model("glm-5.2");
    const auto stages = begun_at_choices(uniform_stages(78, 4, 1), glm.layers);
    int next = 0;
    for (const StageContent& stage : stages) {
        EXPECT_EQ(stage.first_layer, next);
        next += stage.layers;
        EXPECT_TRUE(glm.layers[stage.first_layer].as<Attention>()->sparse->indexer);
        EXPECT_NO_THROW(build_stage(glm, how_of(1), stage));
    }
    EXPECT_EQ(next, 78);
}

struct Entries {
    std::int64_t h = 4096, a = 64, d = 512, q = 1024, groups = 8, out = 1024, n = 64, di = 128;
    std::int64_t weights() const {
        return h * q + q + q * a * d + h * d + d + a * d * out + groups * out * h + a;
    }
    std::int64_t chosen_compressor() const { return 4 * h * d + 8 * d + d; }
    std::int64_t indexer() const { return 4 * h * di + 8 * di + di + q * n * di + h * n; }
};

TEST(Kinds2026, CompressedAttention) {
    const Entries x;
    const StageGraph chosen = layer_of_zoo("deepseek-v4-flash", 2);
    const std::int64_t common = normed(x.h) + 4 * x.q + 4 + 4 * x.a * x.d + 2 * x.d + 4 +
                                4 * x.a * x.d + 4 * x.a + 2 * x.groups * x.out;
    // An entry for every four tokens, 16 of which there are; and what the streams' sum keeps.
    const std::int64_t entries = 2 * x.d * 5 / 4 + 16 * x.d + 16 * x.di + 4 * 16;
    const std::int64_t streams = 4 * 2 * x.h + 2 * x.h + 8 * 24;
    EXPECT_EQ(kept(chosen), kTokens * (common + entries + streams));
    // 64 tokens see 496 entries, 7.75 each, and an indexer scores half of the 16 on average.
    const auto products = static_cast<double>(x.weights() - x.q - x.d - x.a + 4 * x.h * x.d +
                                              4 * x.h * x.di + x.q * x.n * x.di + x.h * x.n);
    EXPECT_EQ(forward_flops(chosen),
              2 * kTokens * products + twice(kTokens * 8 * x.n * (x.di + 1)) +
                  twice(2 * x.a * x.d) * (kPairs + kTokens * 8) + twice(kTokens * 16 * x.h));
    EXPECT_EQ(parameters(chosen, {"self_attn"}), x.weights() + x.chosen_compressor() + x.indexer());
    EXPECT_EQ(parameters(layer_of_zoo("deepseek-v4-flash", 3), {"self_attn"}),
              x.weights() + 2 * x.h * x.d + 128 * x.d + x.d);
    EXPECT_EQ(parameters(layer_of_zoo("deepseek-v4-flash", 0), {"self_attn"}), x.weights());
}

StageGraph layer_of_class(const char* name) {
    const std::string path =
        (source_folder() / "tests/models/hf/configs2026" / (std::string("class-") + name + ".json"))
            .string();
    return build_stage(read_model(path), how_of(1), {0, 1, false, false});
}

/// Falcon-H1: attention and Mamba-2 keep what they read once, and the scan has no norm.
TEST(Kinds2026, StateSpacesBesideAttention) {
    constexpr std::int64_t h = 4096, a = 32, kv = 8, d = 128;
    constexpr std::int64_t heads = 128, inner = 1024, state = 256, mixed = inner + 2 * state;
    constexpr std::int64_t projected = inner + mixed + heads;
    const std::set<std::string> parts{"self_attn", "input_layernorm", ".mamba"};
    const StageGraph graph = layer_of_class("falcon_h1");
    EXPECT_EQ(kept(graph, parts), kTokens * (normed(h) + 2 * (a + 2 * kv) * d + 2 * a * d + 4 * a +
                                             2 * projected + 4 * inner));
    const std::int64_t products = h * d * (2 * a + 2 * kv) + h * (projected + inner);
    // One chunk of 256, of which the tokens are a part.
    constexpr std::int64_t chunk = 256;
    const std::int64_t scan = chunk * chunk * (state + inner) + 2 * inner * state * chunk;
    EXPECT_EQ(forward_flops(graph, parts), twice(kTokens * products + scan) + 4.0 * kPairs * a * d);
    EXPECT_EQ(parameters(graph, parts), products + 5 * mixed + 3 * heads + h);
    for (const Parameter& parameter : graph.parameters)
        EXPECT_EQ(parameter.name.find("mamba.norm"), std::string::npos);
}

/// Cohere's: a layer norm without a bias, whose result attention and MLP keep together.
TEST(Kinds2026, OneNormOfAttentionAndMlp) {
    constexpr std::int64_t h = 8192, a = 64, d = 128, f = 22528;
    const std::set<std::string> parts{"self_attn", "input_layernorm", ".mlp"};
    const StageGraph graph = layer_of_class("cohere2");
    EXPECT_EQ(kept(graph, parts),
              kTokens * (4 * h + 8 + 2 * 3 * a * d + 2 * a * d + 4 * a + 2 * 3 * f));
    EXPECT_EQ(parameters(graph, {"layers"}), h + 4 * h * a * d + 3 * h * f);
}

/// Streams and coefficients of a part: 2 n h and, before and after the Sinkhorn rounds, 8 (n^2 + 2
/// n) bytes a token; between stages go n h values instead of h.
TEST(Kinds2026, HyperConnections) {
    constexpr std::int64_t h = 4096, n = 4;
    const StageGraph graph = layer_of_zoo("deepseek-v4-flash", 2);
    EXPECT_EQ(kept(graph, {"attn_hc"}), kTokens * (2 * n * h + 8 * (n * n + 2 * n)));
    EXPECT_EQ(forward_flops(graph, {"attn_hc"}), 2.0 * kTokens * n * h * (n * n + 2 * n));
    EXPECT_EQ(parameters(graph, {"attn_hc"}), (n * n + 2 * n) * (n * h + 1) + 3);
    EXPECT_EQ(graph.input_bytes(), Bytes{2 * kTokens * n * h});
    EXPECT_EQ(graph.output_bytes(), Bytes{2 * kTokens * n * h});
}

TEST(Kinds2026, KimiDeltaAttention) {
    constexpr std::int64_t h = 2304, heads = 32, p = 4096, narrow = 128;
    const StageGraph graph = layer_of_zoo("kimi-linear-48b-a3b", 0);
    EXPECT_EQ(kept(graph), kTokens * (normed(h) + 2 * (3 * p + heads) + 2 * narrow + 2 * p +
                                      2 * narrow + 2 * p + 6 * p + 4 * heads + 2 * heads * 64 +
                                      4 * heads * 64 + 8 * heads + 2 * p + 4 * heads + 2 * p));
    const std::int64_t weights = 3 * h * p + h * heads + 2 * (narrow * h + narrow * p) + p * h;
    EXPECT_EQ(forward_flops(graph),
              2.0 * kTokens * weights + kTokens * heads * (6.0 * 128 * 128 + 128.0 * 5 * 128));
    EXPECT_EQ(parameters(graph, {"linear_attn"}), weights + 12 * p + p + heads + 128);
    const std::int64_t whole = 2 * narrow * h + 128;
    EXPECT_EQ(parameters(layer_of_zoo("kimi-linear-48b-a3b", 0, 2), {"linear_attn"}),
              whole + (weights + 13 * p + heads + 128 - whole) / 2);
}

/// Jamba: values and gate, values after the convolution, the narrow value before and after its
/// norms, steps, the result before and after its gate, and states in fp32 at every 2,048 tokens.
TEST(Kinds2026, SelectiveScans) {
    constexpr std::int64_t h = 4096, inner = 8192, state = 16, rank = 256;
    constexpr std::int64_t narrow = rank + 2 * state;
    const StageGraph graph = layer_of_zoo("jamba-1.5-mini", 0);
    const std::set<std::string> parts{"linear_attn", "input_layernorm"};
    EXPECT_EQ(kept(graph, parts),
              kTokens * (normed(h) + 2 * 6 * inner + 4 * narrow + 3 * 4) + 4 * inner * 2 * state);
    const std::int64_t weights = 3 * h * inner + inner * (narrow + rank);
    EXPECT_EQ(forward_flops(graph, parts), twice(kTokens * weights));
    EXPECT_EQ(parameters(graph, {"linear_attn"}),
              weights + 5 * inner + inner + inner * state + inner + narrow);
    // Columns are halved; the norms are whole.
    EXPECT_EQ(parameters(layer_of_zoo("jamba-1.5-mini", 0, 2), {"linear_attn"}),
              (weights + 7 * inner + inner * state) / 2 + narrow);
}

/// MiniMax-Text-01: queries, keys and values before and after SiLU, the gate, the result, and its
/// norm times the gate. One block of 256 tokens, of which these are a part.
TEST(Kinds2026, LightningAttention) {
    constexpr std::int64_t h = 6144, heads = 64, width = 8192, d = 128, block = 256;
    const StageGraph graph = layer_of_zoo("minimax-text-01", 0);
    EXPECT_EQ(kept(graph), kTokens * (normed(h) + 2 * 9 * width + 4));
    EXPECT_EQ(forward_flops(graph),
              twice(kTokens * 5 * h * width) +
                  twice(heads * (2 * block * block * d + block * d * d + kTokens * d * d)));
    EXPECT_EQ(parameters(graph, {"linear_attn"}), 5 * h * width + width);
    EXPECT_EQ(parameters(layer_of_zoo("minimax-text-01", 0, 2), {"linear_attn"}),
              (5 * h * width + width) / 2);
}

/// A boundary before layer l carries 1 + ceil(l / 12) times the hidden width.
TEST(Kinds2026, AttentionResidualsBetweenStages) {
    const Architecture kimi = read_model("kimi-k3");
    for (const auto& [first, rows] : {std::pair(1, 2), std::pair(12, 2), std::pair(13, 3),
                                      std::pair(24, 3), std::pair(85, 9)}) {
        const StageGraph graph = build_stage(kimi, how_of(1), {first, 4, false, false});
        EXPECT_EQ(graph.input_bytes(), Bytes{2 * kTokens * 7168 * rows}) << first;
        EXPECT_EQ(graph.tensors[static_cast<std::size_t>(*graph.output)].bytes,
                  graph.output_bytes())
            << first;
    }
    EXPECT_EQ(parameters(build_stage(kimi, how_of(1), {1, 1, false, false}), {"_res"}), 4 * 7168);
}

/// Experts at a width of 3584, and the exchange of rows as wide.
TEST(Kinds2026, LatentExpertsWithANorm) {
    const StageGraph graph = layer_of_zoo("kimi-k3", 1);
    constexpr std::int64_t h = 7168, l = 3584, f = 3072, e = 896;
    EXPECT_EQ(parameters(graph, {".mlp."}), h * e + 2 * h * l + l + 3 * h * 2 * f + 3 * e * l * f);
}

}  // namespace
}  // namespace debubble::models::kinds_2026
