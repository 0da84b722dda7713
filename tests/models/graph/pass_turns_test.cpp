#include "models/graph/operator_runs.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/architecture_reader.h"

/// Passes cut into the parts in which two of them take turns.
namespace debubble::models {
namespace {

using enum TurnPart;

StageGraph stage(bool delays, const char* model = "mixtral-8x7b") {
    Execution how;
    how.micro_batch = 1;
    how.seq_length = 64;
    const Architecture network = read_model(model);
    how.expert = network.has_experts() ? 2 : 1;
    how.delays_weights = delays;
    return build_stage(network, how, {0, 3, true, false});
}

std::vector<TurnPart> parts_of(const PassTurns::Layer& layer) {
    std::vector<TurnPart> parts;
    for (const TurnSteps& steps : layer.parts) parts.push_back(steps.part);
    return parts;
}

TEST(TurnsOfAPass, StopAtBothExchangesOfExperts) {
    const StageGraph graph = stage(false);
    const std::vector expected{Computes, Asks, Computes, Asks, Computes};
    for (const PassSteps& pass : {forward_steps(graph), backward_steps(graph)}) {
        const PassTurns turns = turns_of(pass);
        ASSERT_EQ(turns.layers.size(), 3U);
        for (const PassTurns::Layer& layer : turns.layers) EXPECT_EQ(parts_of(layer), expected);
        EXPECT_EQ(turns.end, pass.steps.size());
    }
}

/// Megatron-Core's order: those of experts before their rows go back, attention's at the end.
TEST(TurnsOfAPass, HaveDelayedWeightsAfterExpertsAndAfterAttention) {
    const PassTurns turns = turns_of(backward_steps(stage(true)));
    ASSERT_EQ(turns.layers.size(), 3U);
    for (const PassTurns::Layer& layer : turns.layers)
        EXPECT_EQ(parts_of(layer),
                  (std::vector{Computes, Asks, Computes, Weights, Asks, Computes, Weights}));
    EXPECT_EQ(turns.layers.front().number, 2) << "the last layer runs first";
}

/// The order changes, the work does not, and every tensor is freed as often as it is allocated.
TEST(TurnsOfAPass, RunTheSameKernelsWhereWeightsAreDelayed) {
    for (const char* model : {"mixtral-8x7b", "deepseek-v3", "llama3.2-1b"}) {
        std::vector<std::vector<std::string>> names;
        for (const bool delays : {false, true}) {
            const StageGraph graph = stage(delays, model);
            names.emplace_back();
            std::vector<int> alive(graph.tensors.size());
            for (const PassSteps& pass : {forward_steps(graph), backward_steps(graph)}) {
                for (const Kernel& kernel : pass.kernels) names.back().push_back(kernel.name);
                for (const Step& step : pass.steps) {
                    if (step.kind == Step::Kind::Run) continue;
                    int& count = alive[static_cast<std::size_t>(step.index)];
                    count += step.kind == Step::Kind::Allocate ? 1 : -1;
                    ASSERT_TRUE(count == 0 || count == 1 || graph.input_gradient == step.index ||
                                graph.output_gradient == step.index)
                        << graph.tensors[static_cast<std::size_t>(step.index)].name;
                }
            }
            std::ranges::sort(names.back());
        }
        EXPECT_EQ(names[0], names[1]) << model;
    }
}

}  // namespace
}  // namespace debubble::models
