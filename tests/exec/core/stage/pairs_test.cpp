#include "exec/core/stage/operators/run_operator.h"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/graph/graph.h"
#include "tests/models/architectures.h"

/// Which operators are made together, and that the plan has room for it.
namespace debubble::exec {
namespace {

using models::Execution;
using models::RunsByPass;
using models::StageGraph;
using Kind = OperatorPair::Kind;

models::Execution execution() {
    Execution how;
    how.micro_batch = 2;
    how.seq_length = 64;
    how.kernels.fused_norm = true;
    how.kernels.activation_gradient_in_place = true;
    return how;
}

StageGraph gpt(const Execution& how) {
    return build_stage(models::gpt(3, 64, 4, 512, 64), how, {0, 3, true, true});
}

std::map<Kind, int> pairs_of(const StageGraph& graph, const std::vector<models::OperatorRun>& runs,
                             bool drops = false) {
    std::map<Kind, int> counts;
    for (std::size_t at = 0; at < runs.size(); ++at)
        if (const auto pair = pair_at(graph, runs, at, drops)) {
            ++counts[pair->kind];
            ++at;
        }
    return counts;
}

TEST(Pairs, OfAGptAreItsGelusAndTheNormsOfItsSums) {
    const StageGraph graph = gpt(execution());
    const RunsByPass fused = operator_runs(graph, false), split = operator_runs(graph, true);
    const std::map<Kind, int> forward{{Kind::LinearActivation, 3}, {Kind::ResidualNorm, 6}};
    const std::map<Kind, int> backward{{Kind::ActivationLinear, 3}};
    EXPECT_EQ(pairs_of(graph, fused[0]), forward);
    EXPECT_EQ(pairs_of(graph, fused[1]), backward);
    EXPECT_EQ(pairs_of(graph, split[0]), forward);
    EXPECT_EQ(pairs_of(graph, split[1]), backward);
    EXPECT_EQ(pairs_of(graph, split[2]), (std::map<Kind, int>{}));
}

TEST(Pairs, AreNotMadeAcrossDropoutOrASumOverRanks) {
    EXPECT_FALSE(pairs_of(gpt(execution()), operator_runs(gpt(execution()), false)[0], true)
                     .contains(Kind::ResidualNorm));
    Execution how = execution();
    how.tensor = 2;
    const StageGraph cut = gpt(how);  // columns of the first product, rows of the second
    EXPECT_EQ(pairs_of(cut, operator_runs(cut, false)[0])[Kind::LinearActivation], 3);
    EXPECT_EQ(pairs_of(cut, operator_runs(cut, false)[1])[Kind::ActivationLinear], 3);
}

/// The most bytes that a pass holds, operator by operator, with pairs or without.
struct Walk {
    const StageGraph& graph;
    std::set<int> live = {};
    std::int64_t bytes = 0;
    std::int64_t peak = 0;

    void add(int tensor) {
        if (live.insert(tensor).second) bytes += graph.tensors[tensor].bytes.count;
        peak = std::max(peak, bytes);
    }
    void drop(int tensor) {
        if (live.erase(tensor) > 0) bytes -= graph.tensors[tensor].bytes.count;
    }
    void run(const std::vector<models::OperatorRun>& runs, bool paired) {
        for (std::size_t at = 0; at < runs.size(); ++at) {
            const auto pair = paired ? pair_at(graph, runs, at, false) : std::nullopt;
            const std::size_t last = pair ? at + 1 : at;
            for (std::size_t i = at; i <= last; ++i)
                for (const int tensor : runs[i].allocates)
                    if (!pair || !pair->reuse || tensor != pair->reuse->becomes) add(tensor);
            if (pair && pair->reuse) {
                drop(pair->reuse->tensor);
                add(pair->reuse->becomes);
            }
            for (std::size_t i = at; i <= last; ++i)
                for (const int tensor : runs[i].frees) drop(tensor);
            at = last;
        }
    }
};

TEST(Pairs, HoldWhatThePlanHoldsAndLeaveWhatItLeaves) {
    for (const auto recompute : {models::Recompute::None, models::Recompute::Full})
        for (const int tensor : {1, 2})
            for (const bool sequence : {false, true})
                for (const bool split : {false, true}) {
                    Execution how = execution();
                    how.recompute = recompute;
                    how.tensor = tensor;
                    how.sequence_parallel = sequence && tensor > 1;
                    how.split_backward = split;
                    const StageGraph graph = gpt(how);
                    Walk planned{graph}, paired{graph};
                    for (const auto& runs : operator_runs(graph, split)) {
                        planned.peak = paired.peak = 0;
                        planned.run(runs, false);
                        paired.run(runs, true);
                        // Statistics of a norm come one operator early.
                        const std::int64_t early = 8 * how.micro_batch * how.seq_length;
                        EXPECT_LE(paired.peak, planned.peak + early);
                        EXPECT_EQ(paired.live, planned.live);
                    }
                    EXPECT_TRUE(paired.live.empty());
                }
}

}  // namespace
}  // namespace debubble::exec
