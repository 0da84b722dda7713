#include <algorithm>

#include <gtest/gtest.h>

#include "models/graph/operator_runs.h"
#include "tests/models/architectures.h"

/// With weight gradients in a pass of their own, what they read must outlive the input
/// gradients unchanged.
namespace debubble::models {
namespace {

bool has(const std::vector<int>& tensors, int tensor) {
    return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

/// Output gradients that a weight pass reads, and an input pass that runs later adds to.
int overwritten_before_use(const StageGraph& graph) {
    int count = 0;
    for (const Operator& reader : graph.operators) {
        for (const Operator& op : graph.operators) {
            const auto* norm = op.as<op::Norm>();
            if (norm == nullptr || norm->through != norm->x.gradient) continue;
            count += has(reader.backward_weight_uses, *norm->through) ? 1 : 0;
        }
    }
    return count;
}

StageGraph stage(bool split, bool dropout, StageContent content = {0, 3, false, false}) {
    Execution how;
    how.seq_length = 64;
    how.split_backward = split;
    how.hidden_dropout = dropout;
    how.kernels.activation_gradient_in_place = true;
    return build_stage(gpt(3, 256, 8), how, content);
}

TEST(SplitBackward, LeavesEveryOutputGradientAsTheWeightPassNeedsIt) {
    EXPECT_GT(overwritten_before_use(stage(false, false)), 0);
    EXPECT_EQ(overwritten_before_use(stage(true, false)), 0);
    EXPECT_EQ(overwritten_before_use(stage(true, true)), 0);
}

TEST(SplitBackward, HoldsEverySumOfTheStreamsGradient) {
    const auto held_between = [](const StageGraph& graph) {
        std::int64_t held = 0;
        const RunsByPass passes = operator_runs(graph, true);
        for (const int pass : {0, 1}) {
            for (const OperatorRun& run : passes[pass]) {
                for (const int t : run.allocates) held += graph.tensors[t].bytes.count;
                for (const int t : run.frees) held -= graph.tensors[t].bytes.count;
            }
        }
        return held;
    };
    // Six sums wait, where one that all share and the one that arrives did.
    const std::int64_t one = stage(true, false).boundary_bytes().count;
    EXPECT_EQ(held_between(stage(true, false)) - held_between(stage(false, false)), 4 * one);
}

TEST(OperatorRuns, AllocateAndFreeEveryTensorOnce) {
    for (const bool split : {false, true}) {
        for (const bool dropout : {false, true}) {
            const StageGraph graph = stage(split, dropout, {0, 3, true, true});
            std::vector<int> balance(graph.tensors.size(), 0);
            for (const auto& pass : operator_runs(graph, split)) {
                for (const OperatorRun& run : pass) {
                    for (const int t : run.allocates) EXPECT_EQ(++balance[t], 1);
                    for (const int t : run.frees) EXPECT_EQ(--balance[t], 0);
                }
            }
            EXPECT_EQ(std::count(balance.begin(), balance.end(), 0), std::ssize(balance));
        }
    }
}

}  // namespace
}  // namespace debubble::models
