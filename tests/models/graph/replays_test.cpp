#include "models/graph/replays.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "models/architecture_reader.h"
#include "models/graph/operator_runs.h"
#include "tests/models/architectures.h"

/// What chosen modules drop, keep and run again, against Megatron-LM d98e8a6
/// (core/transformer/transformer_config.py, core/tensor_parallel/random.py).
namespace debubble::models {
namespace {

constexpr std::int64_t kFewTokens = 64;

Execution with_modules(std::initializer_list<Module> modules) {
    Execution how;
    how.seq_length = kFewTokens;
    how.kernels.weighted_experts_activation = true;
    if (modules.size() == 0) return how;
    how.recompute = Recompute::Modules;
    for (const Module module : modules) how.recompute_extent.modules.add(module);
    return how;
}

/// Bytes that live between the forward of a stage and its backward.
std::int64_t held(const StageGraph& graph, bool split = false) {
    std::int64_t bytes = 0;
    const RunsByPass passes = operator_runs(graph, split);
    for (const OperatorRun& run : passes[0]) {
        for (const int t : run.allocates) bytes += graph.tensors[t].bytes.count;
        for (const int t : run.frees) bytes -= graph.tensors[t].bytes.count;
    }
    return bytes;
}

StageGraph layer(const Architecture& model, int index, const Execution& how) {
    return build_stage(model, how, {index, 1, false, false});
}

std::int64_t spared(const Architecture& model, int index, Module module) {
    return held(layer(model, index, with_modules({}))) -
           held(layer(model, index, with_modules({module})));
}

std::map<std::string, int> again(const StageGraph& graph) {
    std::map<std::string, int> count;
    const RunsByPass passes = operator_runs(graph, false);
    for (const OperatorRun& run : passes[1])
        if (run.part == Part::Again)
            ++count[graph.operators[run.op].forward.empty()
                        ? graph.operators[run.op].name
                        : graph.operators[run.op].forward.front().name];
    return count;
}

/// The nonlinearity's result: 2 R f bytes and the rows' weights; the first product's stays.
TEST(RecomputedModule, MoeActDropsWhatTheNonlinearityGives) {
    const Architecture model = read_model("deepseek-v3");
    const std::int64_t rows = kFewTokens * 8;
    EXPECT_EQ(spared(model, 10, Module::MoeActivation), 2 * rows * 2048 + 4 * rows);
    const auto runs = again(layer(model, 10, with_modules({Module::MoeActivation})));
    EXPECT_EQ(runs, (std::map<std::string, int>{{"experts.act", 1}}));
}

/// Queries, keys and values twice, before and after their angles are turned: of Megatron-Core's
/// 2 T a (2 (192) + 128) those that attention reads, and the products that made them. The norms of
/// the narrow values, 1536 and 512 wide, are fused with these and go with them.
TEST(RecomputedModule, MlaUpProjDropsQueriesKeysAndValues) {
    const Architecture model = read_model("deepseek-v3");
    const std::int64_t heads = 128;
    EXPECT_EQ(
        spared(model, 10, Module::MlaUpProjection),
        2 * kFewTokens * heads * (2 * (128 + 64) + 128) + kFewTokens * (2 * (1536 + 512) + 2 * 4));
    const auto runs = again(layer(model, 10, with_modules({Module::MlaUpProjection})));
    EXPECT_EQ(runs, (std::map<std::string, int>{{"attn.q_norm", 1},
                                                {"attn.q_up", 1},
                                                {"attn.kv_norm", 1},
                                                {"attn.kv_up", 1},
                                                {"attn.split", 1}}));
}

/// The norms before latent attention and before experts: 2 T h each, and their statistics.
TEST(RecomputedModule, LayernormDropsTheNormsThatAreModules) {
    const std::int64_t norm = 2 * kFewTokens * 7168 + 4 * kFewTokens;
    const Architecture model = read_model("deepseek-v3");
    EXPECT_EQ(spared(model, 10, Module::LayerNorm), 2 * norm);
    EXPECT_EQ(spared(model, 0, Module::LayerNorm), norm);  // a dense MLP's norm is fused
    EXPECT_EQ(spared(read_model("llama3-8b"), 0, Module::LayerNorm), 0);
}

/// A dense MLP keeps the stream that goes into it: its norm, both products and the nonlinearity run
/// again, and in a layer of experts nothing does.
TEST(RecomputedModule, MlpKeepsOnlyItsInput) {
    const Architecture model = read_model("llama3-8b");
    const std::int64_t inside = 2 * kFewTokens * 4096 + 4 * kFewTokens +
                                2 * kFewTokens * 2 * 14336 + 2 * kFewTokens * 14336;
    EXPECT_EQ(spared(model, 0, Module::Mlp), inside);
    EXPECT_EQ(spared(read_model("deepseek-v3"), 10, Module::Mlp), 0);
    EXPECT_EQ(
        again(layer(model, 0, with_modules({Module::Mlp}))),
        (std::map<std::string, int>{{"ln2", 1}, {"mlp.fc1", 1}, {"mlp.act", 1}, {"mlp.fc2", 1}}));
}

/// With a fused kernel the core of attention drops nothing but its log-sums, since the projection
/// keeps its result.
TEST(RecomputedModule, CoreAttentionDropsOnlyStatistics) {
    const Architecture model = read_model("llama3-8b");
    EXPECT_EQ(spared(model, 0, Module::CoreAttention), 4 * kFewTokens * 32);
    EXPECT_EQ(again(layer(model, 0, with_modules({Module::CoreAttention}))),
              (std::map<std::string, int>{{"attn.core", 1}}));
}

/// Of experts the normed input alone is kept, and their exchange happens again.
TEST(RecomputedModule, MoeRunsTheExchangeAgain) {
    const Architecture model = read_model("deepseek-v3");
    Execution how = with_modules({Module::Moe});
    how.expert = 8;
    const auto runs = again(layer(model, 10, how));
    EXPECT_EQ(runs.at("experts.dispatch"), 1);
    EXPECT_EQ(runs.at("experts.return"), 1);
    EXPECT_EQ(runs.at("shared.fc1"), 1);
    EXPECT_FALSE(runs.contains("ln2"));
    EXPECT_GT(spared(model, 10, Module::Moe), spared(model, 10, Module::MoeActivation));
}

/// A checkpoint whose input is discarded needs that first, and what is discarded inside a
/// checkpoint is made twice.
TEST(RecomputedModule, NestsAsMegatronDoes) {
    const Architecture model = read_model("deepseek-v3");
    const StageGraph graph =
        layer(model, 10, with_modules({Module::Moe, Module::LayerNorm, Module::MoeActivation}));
    const auto runs = again(graph);
    EXPECT_EQ(runs.at("ln2"), 1);
    EXPECT_EQ(runs.at("experts.act"), 2);
    std::vector<std::string> order;
    const RunsByPass passes = operator_runs(graph, false);
    for (const OperatorRun& run : passes[1])
        if (run.part == Part::Again && !graph.operators[run.op].forward.empty())
            order.push_back(graph.operators[run.op].forward.front().name);
    EXPECT_LT(std::ranges::find(order, "ln2") - order.begin(),
              std::ranges::find(order, "experts.router") - order.begin());
}

/// A sentence if a run reads what is not there, or if anything is left in the end.
std::string mistake_of(const StageGraph& graph, bool split) {
    std::vector<int> alive(graph.tensors.size());
    for (const auto& pass : operator_runs(graph, split))
        for (const OperatorRun& run : pass) {
            for (const int t : run.allocates)
                if (++alive[t] != 1) return "allocated twice: " + graph.tensors[t].name;
            const Operator& op = graph.operators[run.op];
            const bool forward = run.part == Part::Forward || run.part == Part::Again;
            std::vector<int> read;
            for (const int t : op.inputs)
                if (std::ranges::find(op.forward_uses, t) != op.forward_uses.end())
                    read.push_back(t);
            for (const int t : forward                    ? read
                               : run.part == Part::Weight ? op.backward_weight_uses
                                                          : op.backward_input_uses)
                if (alive[t] != 1) return op.name + " misses " + graph.tensors[t].name;
            for (const int t : run.frees)
                if (--alive[t] != 0) return "freed twice: " + graph.tensors[t].name;
        }
    return std::ranges::count(alive, 0) == std::ssize(alive) ? "" : "something is left";
}

Modules set_of(unsigned bits) {
    Modules modules;
    for (unsigned m = 0; m < 7; ++m)
        if ((bits >> m & 1U) != 0) modules.add(kModules[m]);
    return modules;
}

TEST(RecomputedModule, LeavesEveryTensorThereWhenItIsUsed) {
    for (const char* name : {"deepseek-v3", "llama3-8b", "qwen3-next-80b-a3b", "gpt2"})
        for (const bool split : {false, true})
            for (unsigned set = 0; set < 128; ++set) {
                Execution how = with_modules({Module::CoreAttention});
                how.split_backward = split;
                how.recompute_extent.modules = set_of(set);
                const StageGraph graph = build_stage(read_model(name), how, {2, 2, false, true});
                EXPECT_EQ(mistake_of(graph, split), "") << name << ' ' << set;
            }
}

TEST(RecomputedLayers, AreTheFirstOfEveryStage) {
    Execution how;
    how.seq_length = kFewTokens;
    how.recompute = Recompute::Full;
    const Architecture model = read_model("llama3-8b");
    std::vector<std::int64_t> bytes;
    for (const int layers : {1, 2, 3, 4, 0}) {
        how.recompute_extent.layers.reset();
        if (layers > 0) how.recompute_extent.layers = layers;
        const StageGraph graph = build_stage(model, how, {8, 4, false, false});
        bytes.push_back(held(graph));
        int runs = 0;
        for (const auto& [name, count] : again(graph)) runs += name == "mlp.fc1" ? count : 0;
        EXPECT_EQ(runs, layers == 0 ? 4 : layers);
    }
    for (std::size_t i = 1; i < 4; ++i)
        EXPECT_EQ(bytes[i - 1] - bytes[i], bytes.front() - bytes[1]);
    EXPECT_EQ(bytes[3], bytes[4]);
}

/// In groups of n layers the inputs of one in n are kept: 2 T h each.
TEST(RecomputedLayers, KeepTheInputOfEveryGroup) {
    Execution how;
    how.seq_length = kFewTokens;
    how.recompute = Recompute::Full;
    for (const int together : {1, 2, 4, 8}) {
        how.recompute_extent.together = together;
        const StageGraph graph = build_stage(read_model("llama3-8b"), how, {8, 8, false, false});
        EXPECT_EQ(held(graph), 8 / together * 2 * kFewTokens * 4096);
    }
}

/// Tensors of a million elements go; those of the last layer stay.
TEST(Offload, TakesTheInputsOfModules) {
    Execution how;
    how.seq_length = 4096;
    const Architecture model = read_model("llama3-8b");
    const auto build = [&] { return build_stage(model, how, {0, 4, false, false}); };
    const std::int64_t before = held(build());
    how.offload.modules.add(Module::CoreAttention).add(Module::AttentionProjection);
    const StageGraph graph = build();
    std::int64_t bytes = 0;
    for (const OffloadGroup& group : offloads_of(graph)) {
        EXPECT_LT(group.layer, 3);
        for (const int tensor : group.tensors) bytes += graph.tensors[tensor].bytes.count;
    }
    // Queries, keys and values, and what attention gives, of three layers.
    EXPECT_EQ(bytes, 3 * (2LL * 4096 * (4096 + 2 * 1024) + 2LL * 4096 * 4096));
    EXPECT_EQ(before - held(graph), bytes);
}

TEST(Offload, BringsEveryTensorBackBeforeItIsUsed) {
    for (const bool split : {false, true})
        for (const bool everything : {false, true}) {
            Execution how;
            how.seq_length = 2048;
            how.split_backward = split;
            how.offload.everything = everything;
            if (!everything)
                for (const Module module : kModules) how.offload.modules.add(module);
            const StageGraph graph =
                build_stage(read_model("qwen3-30b-a3b"), how, {0, 4, true, false});
            EXPECT_FALSE(offloads_of(graph).empty());
            EXPECT_EQ(mistake_of(graph, split), "");
        }
}

StageGraph two_layers(Recompute recompute) {
    Execution how;
    how.seq_length = 1024;
    how.recompute = recompute;
    return build_stage(llama(2, 256, 8, 4, 512, 32000), how, {0, 2, false, false});
}

double flops_again(const StageGraph& graph) {
    double sum = 0;
    const RunsByPass runs = operator_runs(graph, false);
    for (const OperatorRun& run : runs[1])
        if (run.part == Part::Again)
            for (const Kernel& kernel :
                 kernels_of(graph.operators[static_cast<std::size_t>(run.op)], run.part))
                sum += flops(kernel);
    return sum;
}

/// Products in their order: queries, keys, values, projection, gate, up, down. Those of even
/// numbers run again: keys [h, h / 2], projection [h, h] and up [h, f].
TEST(SelectProducts, RunsEverySecondProductAgain) {
    const double of_layer = 2.0 * 1024 * (256 * 128 + 256 * 256 + 256 * 512);
    EXPECT_DOUBLE_EQ(flops_again(two_layers(Recompute::Products)), 2 * of_layer);
    EXPECT_EQ(flops_again(two_layers(Recompute::None)), 0);
}

TEST(SelectProducts, HoldsLessThanAllAndMoreThanInputs) {
    const auto saved = [](Recompute recompute) {
        const StageGraph graph = two_layers(recompute);
        std::int64_t held = 0;
        for (const Step& step : forward_steps(graph).steps) {
            const auto size = [&](std::int64_t sign) {
                held += sign * graph.tensors[static_cast<std::size_t>(step.index)].bytes.count;
            };
            if (step.kind == Step::Kind::Allocate) size(1);
            if (step.kind == Step::Kind::Free) size(-1);
        }
        return held;
    };
    EXPECT_LT(saved(Recompute::Full), saved(Recompute::Products));
    EXPECT_LT(saved(Recompute::Products), saved(Recompute::None));
}

TEST(SelectProducts, MakesEveryTensorOnceAtATime) {
    const StageGraph graph = two_layers(Recompute::Products);
    const PassSteps backward = backward_steps(graph);
    EXPECT_EQ(std::ranges::count_if(backward.kernels,
                                    [](const Kernel& kernel) {
                                        const auto* core =
                                            std::get_if<FlashAttention>(&kernel.work);
                                        return core != nullptr && !core->backward;
                                    }),
              0)
        << "attention is kept";
    std::vector<int> held(graph.tensors.size());
    for (const PassSteps& steps : {forward_steps(graph), backward})
        for (const Step& step : steps.steps) {
            if (step.kind == Step::Kind::Run) continue;
            int& count = held[static_cast<std::size_t>(step.index)];
            count += step.kind == Step::Kind::Allocate ? 1 : -1;
            EXPECT_TRUE(count == 0 || count == 1)
                << graph.tensors[static_cast<std::size_t>(step.index)].name;
        }
}

}  // namespace
}  // namespace debubble::models
