#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "tests/models/change_layers.h"
#include "tests/models/held_bytes.h"

/// Mamba-2, gated delta nets and gates against sums by hand: what is kept, computed and cut.
namespace debubble::models {
namespace {

StageGraph layer_of_model(const Architecture& model, int layer, const Execution& how) {
    return build_stage(model, how, {layer, 1, false, false});
}

Execution tokens(std::int64_t count) {
    Execution how;
    how.seq_length = count;
    return how;
}

double work(const PassSteps& pass) {
    double sum = 0;
    for (const Kernel& kernel : pass.kernels) sum += flops(kernel);
    return sum;
}

/// Nemotron-H 8B per token: the stream and its norm 4h; gate, values, B, C and steps 2 (2 x 8192 +
/// 2 x 8 x 128 + 128); the scan's result, gated, and normed, 2 x 8192 each; statistics of the norms
/// of h and of 8 groups.
TEST(Mamba, KeepsWhatTheSumByHandSays) {
    const std::int64_t token = 4 * 4096 + 2 * (2 * 8192 + 2 * 8 * 128 + 128) + 3 * 2 * 8192 + 4 * 9;
    const StageGraph graph = layer_of_model(read_model("nemotron-h-8b"), 0, tokens(256));
    EXPECT_EQ(saved(graph, {"mixer", "norm"}), 256 * token);
}

/// Products of weights 2 h columns; the scan over chunks of C = 128: G 2 C N + heads (2 C P + 4 N
/// P). A backward does twice as much, and makes scores and states again.
TEST(Mamba, ComputesTheScanOfItsChunks) {
    const StageGraph graph = layer_of_model(read_model("nemotron-h-8b"), 0, tokens(256));
    const double c = 128, n = 128, p = 64, groups = 8, heads = 128;
    const double weights = 4096.0 * (2 * 8192 + 2 * 8 * 128 + 128) + 8192.0 * 4096;
    const double scan = groups * 2 * c * n + heads * (2 * c * p + 4 * n * p);
    const double again = groups * 2 * c * n + heads * 2 * n * p;
    EXPECT_DOUBLE_EQ(work(forward_steps(graph)), 256 * (2 * weights + scan));
    EXPECT_DOUBLE_EQ(work(backward_steps(graph)), 256 * (4 * weights + 2 * scan + again));
}

/// Of the scan and of nothing else; products and copies alike.
TEST(Recurrences, HaveTheFrameworksPace) {
    Execution how = tokens(256);
    how.kernels.recurrence_pace = 2.5;
    for (const char* name : {"nemotron-h-8b", "qwen3-next-80b-a3b"}) {
        const StageGraph graph = layer_of_model(read_model(name), 0, how);
        int paced = 0;
        for (const Operator& op : graph.operators) {
            const bool scans =
                op.as<op::StateSpaceScan>() != nullptr || op.as<op::DeltaRule>() != nullptr;
            for (const auto* part : {&op.forward, &op.backward_input, &op.backward_weight})
                for (const Kernel& kernel : *part) {
                    double pace = 1;
                    if (const auto* product = std::get_if<Gemm>(&kernel.work)) pace = product->pace;
                    if (const auto* copy = std::get_if<Traffic>(&kernel.work)) pace = copy->pace;
                    EXPECT_EQ(pace, scans ? 2.5 : 1) << kernel.name;
                    paced += scans ? 1 : 0;
                }
        }
        EXPECT_GT(paced, 10) << name;
    }
}

/// Everything but the norm of the stream is cut by heads and groups.
TEST(Mamba, IsCutByHeadsAndGroups) {
    const Architecture model = read_model("nemotron-h-8b");
    Execution how = tokens(256);
    const std::int64_t whole = layer_of_model(model, 0, how).parameter_elements();
    const double alone = work(forward_steps(layer_of_model(model, 0, how)));
    how.tensor = 8;
    EXPECT_EQ(layer_of_model(model, 0, how).parameter_elements(), (whole - 4096) / 8 + 4096);
    EXPECT_DOUBLE_EQ(8 * work(forward_steps(layer_of_model(model, 0, how))), alone);
    // Context-parallel ranks exchange tokens for heads: each scans whole sequences of some.
    how.tensor = 2;
    how.context = 4;
    const StageGraph shared = layer_of_model(model, 0, how);
    EXPECT_DOUBLE_EQ(8 * work(forward_steps(shared)), alone);
    EXPECT_EQ(std::ranges::count_if(
                  shared.operators,
                  [](const Operator& op) { return op.as<op::ExchangeHeads>() != nullptr; }),
              2);
    how.context = 8;
    try {
        layer_of_model(model, 0, how);
        ADD_FAILURE() << "8 groups on 16 ranks were accepted";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(),
                    testing::HasSubstr("8 groups of a state-space layer cannot be shared by 16 "
                                       "tensor- and context-parallel ranks"));
    }
}

TEST(Mamba, HasNoSlices) {
    Execution how = tokens(256);
    how.slices = 2;
    for (const char* model : {"nemotron-h-8b", "qwen3-next-80b-a3b"}) {
        try {
            layer_of_model(read_model(model), 0, how);
            ADD_FAILURE() << model << " was cut in time";
        } catch (const InputError& error) {
            EXPECT_THAT(error.what(),
                        testing::HasSubstr("sequence slices are not supported with recurrent"));
        }
    }
}

/// Qwen3-Next per token, with k = 16 x 128 and v = 32 x 128: the stream and its norm 4h; the
/// products 2 (2k + 2v + 2 x 32); what is convolved 2 (2k + v); queries and keys of 32 heads, and
/// values, 2 x 3v; decays and rates of correction; the systems of the chunks 2 x 64 x 32; the
/// rule's result and its norm, 2v each; statistics.
TEST(DeltaNet, KeepsWhatTheSumByHandSays) {
    const std::int64_t k = 16 * 128, v = 32 * 128;
    const std::int64_t token = 4 * 2048 + 2 * (2 * k + 2 * v + 2 * 32) + 2 * (2 * k + v) +
                               2 * 3 * v + (4 + 2) * 32 + 2 * 64 * 32 + 2 * 2 * v + 4 * (1 + 32);
    const StageGraph graph = layer_of_model(read_model("qwen3-next-80b-a3b"), 0, tokens(256));
    EXPECT_EQ(saved(graph, {"linear_attn", "input_layernorm"}), 256 * token);
}

/// A head and token of the chunk rule: 6 k v + 2 C (3k + 2v) with C = 64; a backward does twice as
/// much, and makes w, u, states and scores again: 4 k v + 2 C (2k + v).
TEST(DeltaNet, ComputesTheRuleOfItsChunks) {
    Architecture model = read_model("qwen3-next-80b-a3b");
    change_layers(model, [](LayerKeys& keys) { keys.mlp = false; });
    const StageGraph graph = layer_of_model(model, 0, tokens(256));
    const double d = 128, c = 64, heads = 32;
    const double weights = 2048.0 * (2 * 2048 + 2 * 4096 + 64) + 4096.0 * 2048;
    const double rule = heads * (6 * d * d + 2 * c * 5 * d);
    const double again = heads * (4 * d * d + 2 * c * 3 * d);
    EXPECT_DOUBLE_EQ(work(forward_steps(graph)), 256 * (2 * weights + rule));
    EXPECT_DOUBLE_EQ(work(backward_steps(graph)), 256 * (4 * weights + 2 * rule + again));
    Execution how = tokens(256);
    how.tensor = 4;
    how.sequence_parallel = true;
    how.context = 2;
    EXPECT_DOUBLE_EQ(8 * work(forward_steps(layer_of_model(model, 0, how))),
                     256 * (2 * weights + rule));
}

/// A gate as wide as the queries: a row of weights for each column, the gate and the gated result
/// kept.
TEST(OutputGate, IsKeptWithItsResult) {
    Architecture model = read_model("qwen3-next-80b-a3b");
    const std::int64_t q = 16 * 256;
    const StageGraph with = layer_of_model(model, 3, tokens(64));
    change_layers(model, [](LayerKeys& keys) { keys.output_gate = false; });
    const StageGraph without = layer_of_model(model, 3, tokens(64));
    EXPECT_EQ(with.parameter_elements() - without.parameter_elements(), 2048 * q);
    EXPECT_EQ(saved(with, {"self_attn"}) - saved(without, {"self_attn"}), 64 * 4 * q);
}

/// One logit a token: h weights, the shared branch and its scores kept.
TEST(SharedGate, KeepsTheBranchThatItScales) {
    Architecture model = read_model("qwen3-next-80b-a3b");
    const StageGraph with = layer_of_model(model, 0, tokens(64));
    change_layers(model, [](LayerKeys& keys) { keys.shared_gate = false; });
    const StageGraph without = layer_of_model(model, 0, tokens(64));
    EXPECT_EQ(with.parameter_elements() - without.parameter_elements(), 2048);
    EXPECT_EQ(saved(with, {"mlp"}) - saved(without, {"mlp"}), 64 * (2 * 2048 + 4));
}

/// Megatron-LM's count, which takes a Mamba layer's inner width for 2h (training.py): 3 x (2 h (2 x
/// 2h + 2 G N + heads) + 7 x 2h N + 2 x 2h h) a token; of a delta net with its convolution 6 (h (2k
/// + 2v + 2 x 32) + 4 (2k + v) + 4 x 32 x 128^2 + v h).
TEST(ModelFlops, OfRecurrentLayersAreMegatrons) {
    const auto of_layer = [](const char* name, int layer) {
        Architecture model = read_model(name);
        change_layers(model, [](LayerKeys& keys) {
            if (keys.mixer != MixerKind::None) keys.mlp = false;
        });
        const double rest = 6.0 * static_cast<double>(model.hidden * model.vocab);
        model.layers = {Layer(model.layers[layer]), 1};
        return model_flops_per_sample(model, 1) - rest;
    };
    const double h = 2688;
    EXPECT_DOUBLE_EQ(of_layer("nemotron-3-nano-30b-a3b", 0),
                     3 * (2 * h * (4 * h + 2 * 8 * 128 + 64) + 7 * 2 * h * 128 + 4 * h * h));
    const double k = 2048, v = 4096;
    EXPECT_DOUBLE_EQ(
        of_layer("qwen3-next-80b-a3b", 0),
        6 * (2048 * (2 * k + 2 * v + 64) + 4 * (2 * k + v) + 4 * 32 * 128 * 128 + v * 2048));
}

}  // namespace
}  // namespace debubble::models
