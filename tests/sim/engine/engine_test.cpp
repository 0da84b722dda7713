#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "sim/cost/abstract_cost_model.h"
#include "sim/engine/simulate.h"

namespace debubble::sim {
namespace {

using std::chrono::nanoseconds;

Instant at(int ns) {
    return Instant{nanoseconds{ns}};
}
Compute forward(int stage, int mb) {
    return {Pass::Forward, Stage{stage}, {mb, {}}};
}
Compute backward(int stage, int mb) {
    return {Pass::Backward, Stage{stage}, {mb, {}}};
}
Message activation(int stage, int mb) {
    return {Message::Kind::Activation, Stage{stage}, {mb, {}}};
}

/// F = 10 ns, B = 20 ns; transfers of 100 bytes over the sender's and the
/// receiver's link, 10 bytes per ns each, after 5 ns.
class SmallCluster : public CostModel {
public:
    explicit SmallCluster(int ranks) : links_(2 * ranks, BytesPerSecond{10e9}) {}

    ComputeCost compute(const Compute& c, Rank) const override {
        ComputeCost cost;
        const bool is_forward = c.pass == Pass::Forward;
        cost.duration = nanoseconds{is_forward ? 10 : 20};
        return cost;
    }
    ComputeCost overlap(const Overlap& o, Rank rank) const override {
        return compute(o.second, rank);
    }
    Flow transfer(const Message&, Rank from, Rank to) const override {
        return {nanoseconds{5}, Bytes{100}, {2 * from.index, 2 * to.index + 1}, Bytes{100}, {}};
    }
    Flow unshard(Stage, Rank) const override { return wait(nanoseconds{7}); }
    Flow reduce_grad(Stage, std::span<const Rank>) const override { return wait(nanoseconds{9}); }
    Flow tied_grad(Stage, std::span<const Rank>) const override { return wait(nanoseconds{4}); }
    Flow grad_norm() const override { return wait(nanoseconds{3}); }
    Flow offload(Stage, Rank) const override { return wait(nanoseconds{50}); }
    Duration optimizer_step(Rank) const override { return nanoseconds{6}; }
    std::span<const BytesPerSecond> links() const override { return links_; }

private:
    static Flow wait(Duration length) {
        Flow flow;
        flow.latency = length;
        return flow;
    }
    std::vector<BytesPerSecond> links_;
};

/// 5000 bytes all the time, 1000 of every forward, and what its kernels need beside them.
class SmallMemory final : public MemoryModel {
public:
    MemoryByClass static_memory(Rank) const override { return {Bytes{5000}}; }
    PassMemory compute(const Compute& c) const override {
        const bool is_forward = c.pass == Pass::Forward;
        PassMemory memory;
        memory.held_after = Bytes{is_forward ? 1000 : -1000};
        memory.peak_above = Bytes{is_forward ? 1100 : 300};
        memory.at_peak[static_cast<std::size_t>(MemoryClass::Activations)] = memory.peak_above;
        memory.op_at_peak = is_forward ? "mlp" : "attention";
        return memory;
    }
};

Program program_of(std::vector<ActionList> ranks, int micro_batches) {
    const int p = static_cast<int>(ranks.size());
    return {"test", {p, 1, micro_batches, 1}, loop_placement(p, 1), std::move(ranks)};
}

const Span& span_of(const Simulation& simulation, const std::string& text, int rank) {
    for (const Span& span : simulation.trace.spans)
        if (to_text(span.action) == text && span.rank == Rank{rank}) return span;
    throw std::runtime_error("no span " + text);
}

TEST(Simulate, SendsWhenTheProducerEndsAndComputesWhenItsInputIsThere) {
    const Program program = program_of({{forward(0, 0), Send{activation(0, 0), Rank{1}}},
                                        {Recv{activation(0, 0), Rank{0}}, forward(1, 0)}},
                                       1);
    const Simulation s = simulate(program, SmallCluster(2));
    EXPECT_EQ(span_of(s, "0SEND_F0", 0).begin, at(10));
    EXPECT_EQ(span_of(s, "1RECV_F0", 1).end, at(10 + 5 + 10));  // 100 bytes at 10 bytes per ns
    EXPECT_EQ(span_of(s, "1RECV_F0", 1).lane, Lane::Recv);
    EXPECT_EQ(span_of(s, "1F0", 1).begin, at(25));
    EXPECT_EQ(s.step_ends, std::vector{at(35)});
}

TEST(Simulate, AReceiveWaitsForTheComputeThatStandsBeforeItToBegin) {
    const Program program = program_of({{forward(0, 0), Send{activation(0, 0), Rank{1}},
                                         forward(0, 1), Send{activation(0, 1), Rank{1}}},
                                        {Recv{activation(0, 0), Rank{0}}, forward(1, 0),
                                         Recv{activation(0, 1), Rank{0}}, forward(1, 1)}},
                                       2);
    const Simulation s = simulate(program, SmallCluster(2));
    EXPECT_EQ(span_of(s, "0SEND_F1", 0).begin, at(25)) << "made at 20, received from 25 on";
}

TEST(Simulate, TransfersOverOneLinkShareIt) {
    // Rank 1 sends to both neighbours at once: 200 bytes leave over one link.
    const Message up{Message::Kind::Gradient, Stage{1}, {0, {}}};
    const Program program = program_of({{Recv{up, Rank{1}}},
                                        {Overlap{forward(1, 0), backward(1, 0)},
                                         Send{activation(1, 0), Rank{2}}, Send{up, Rank{0}}},
                                        {Recv{activation(1, 0), Rank{1}}}},
                                       1);
    const Simulation s = simulate(program, SmallCluster(3));
    EXPECT_EQ(span_of(s, "1SEND_F0", 1).begin, at(20));
    EXPECT_EQ(span_of(s, "1SEND_F0", 1).end, at(20 + 5 + 20));
    EXPECT_EQ(span_of(s, "1SEND_B0", 1).end, at(20 + 5 + 20));
}

TEST(Simulate, TheOptimizerWaitsForEveryReductionAndTheNormForEveryRank) {
    const auto rank = [](int stage) {
        return ActionList{backward(stage, 0), ReduceGrad{Stage{stage}}, GradNorm{},
                          OptimizerStep{}};
    };
    Program program = program_of({rank(0), rank(1)}, 1);
    program.ranks[1].insert(program.ranks[1].begin(), forward(1, 0));
    const Simulation s = simulate(program, SmallCluster(2));
    EXPECT_EQ(span_of(s, "1REDUCE_GRAD", 1).end, at(39));
    EXPECT_EQ(span_of(s, "GRAD_NORM", 0).begin, at(39));
    EXPECT_EQ(span_of(s, "OPTIMIZER_STEP", 0).begin, at(42));
    EXPECT_EQ(s.step_ends.front(), at(48));
}

TEST(Simulate, AnUnsynchronisedOptimizerLetsTheNextStepBegin) {
    const auto rank = [](int stage) {
        return ActionList{forward(stage, 0), OptimizerStep{}, GradNorm{}};
    };
    Program program = program_of({rank(0), rank(1)}, 1);
    program.ranks[1].insert(program.ranks[1].begin(), backward(1, 0));
    SimulateOptions two;
    two.steps = 2;
    const Simulation s = simulate(program, SmallCluster(2), two);
    ASSERT_EQ(s.step_ends.size(), 2u);
    EXPECT_EQ(s.step_ends[0], at(39));
    EXPECT_EQ(s.step_ends[1] - s.step_ends[0], nanoseconds{36}) << "one rank's work, no barrier";
    EXPECT_EQ(s.trace.spans.size(), 7u) << "the trace holds the first step";
}

TEST(Simulate, FollowsWhatARankHolds) {
    const Program program =
        program_of({{forward(0, 0), forward(0, 1), backward(0, 0), backward(0, 1)}}, 2);
    const Simulation s = simulate(program, SmallCluster(1), SmallMemory());
    ASSERT_EQ(s.peaks.size(), 1u);
    EXPECT_EQ(total(s.peaks[0].held), Bytes{5000 + 2000 + 300});
    EXPECT_EQ(s.peaks[0].action, "0B0");
    EXPECT_EQ(s.peaks[0].op, "attention");
    EXPECT_EQ(s.trace.memory.back().held, Bytes{0}) << "activations are back at nothing";
}

TEST(Simulate, GathersOneUnitAheadAndNotBeforeTheOneBeforeIsDropped) {
    const Program program = program_of({{Unshard{Stage{0}}, forward(0, 0), Reshard{Stage{0}},
                                         Unshard{Stage{0}}, backward(0, 0), Reshard{Stage{0}}}},
                                       1);
    const Simulation s = simulate(program, SmallCluster(1));
    EXPECT_EQ(span_of(s, "0F0", 0).begin, at(7));
    EXPECT_EQ(span_of(s, "0B0", 0).begin, at(24)) << "dropped at 17, gathered again by 24";
}

TEST(Simulate, CopiesRunBesideTheComputesUnlessTheyBlock) {
    const Program program = program_of({{forward(0, 0), Offload{Stage{0}, {0, {}}}, forward(0, 1),
                                         Reload{Stage{0}, {0, {}}}, forward(0, 2)}},
                                       3);
    const Simulation beside = simulate(program, SmallCluster(1));
    EXPECT_EQ(span_of(beside, "0OFFLOAD0", 0).begin, at(10));
    EXPECT_EQ(span_of(beside, "0F2", 0).end, at(30));

    SimulateOptions how;
    how.header.copies_block = true;
    const Simulation between = simulate(program, SmallCluster(1), how);
    EXPECT_EQ(span_of(between, "0F1", 0).begin, at(10 + 50));
    EXPECT_EQ(span_of(between, "0RELOAD0", 0).begin, at(70));
    EXPECT_EQ(span_of(between, "0F2", 0).end, at(70 + 50 + 10));
    EXPECT_TRUE(between.trace.header.copies_block);
}

TEST(Simulate, ReductionsRunBesideTheComputesUnlessTheyBlock) {
    const Program program =
        program_of({{forward(0, 0), forward(0, 1), backward(0, 0), ReduceGrad{Stage{0}},
                     forward(0, 2), backward(0, 1), ReduceGrad{Stage{0}}}},
                   3);
    const Simulation beside = simulate(program, SmallCluster(1));
    const Instant reduced = span_of(beside, "0REDUCE_GRAD", 0).end;
    EXPECT_EQ(span_of(beside, "0F2", 0).begin, span_of(beside, "0B0", 0).end);
    EXPECT_LT(span_of(beside, "0F2", 0).begin, reduced);

    SimulateOptions how;
    how.header.reductions_block = true;
    const Simulation between = simulate(program, SmallCluster(1), how);
    EXPECT_EQ(span_of(between, "0F2", 0).begin, reduced);
    EXPECT_TRUE(between.trace.header.reductions_block);
}

/// As SmallCluster, whose backward hides 100 bytes of a reduction beside its last 15 ns, whose
/// forward the 100 bytes of a gather but for 3 ns, and whose passes send so many bytes.
class BusyCluster final : public SmallCluster {
public:
    explicit BusyCluster(int ranks, std::int64_t inner = 0) : SmallCluster(ranks), inner_(inner) {}

    ComputeCost compute(const Compute& c, Rank rank) const override {
        ComputeCost cost = SmallCluster::compute(c, rank);
        cost.flows[0] = {Bytes{inner_}, {2 * rank.index}};
        return cost;
    }
    HiddenPart reduce_grad_hidden(Stage, std::span<const Rank> holders) const override {
        return {hidden(holders.front()), nanoseconds{15}};
    }
    HiddenPart unshard_hidden(Stage, Rank rank) const override {
        return {hidden(rank), nanoseconds{3}};
    }

private:
    static Flow hidden(Rank rank) {
        Flow flow;
        flow.bytes = Bytes{200};
        flow.links = {2 * rank.index};
        return flow;
    }
    std::int64_t inner_;
};

/// As SmallCluster, whose reductions send 100 bytes over one link and so many over another.
class TwoTiers final : public SmallCluster {
public:
    explicit TwoTiers(std::int64_t also) : SmallCluster(2), also_(also) {}

    Flow reduce_grad(Stage stage, std::span<const Rank> holders) const override {
        Flow flow = SmallCluster::reduce_grad(stage, holders);
        flow.bytes = Bytes{100};
        flow.links = {1};
        if (also_ > 0) flow.also.push_back({Bytes{also_}, {0}});
        return flow;
    }

private:
    std::int64_t also_;
};

/// Links carry 10 bytes in a nanosecond.
TEST(Simulate, ACollectiveEndsWhenItsBytesOfEveryTierHaveArrived) {
    const Program program =
        program_of({{backward(0, 0), ReduceGrad{Stage{0}}}, {backward(1, 0)}}, 2);
    const auto length = [&](std::int64_t also) {
        const Span span = span_of(simulate(program, TwoTiers(also)), "0REDUCE_GRAD", 0);
        return span.end - span.begin;
    };
    EXPECT_EQ(length(0), nanoseconds{9 + 10});
    EXPECT_EQ(length(50), nanoseconds{9 + 10}) << "a tier that carries less is not waited for";
    EXPECT_EQ(length(300), nanoseconds{9 + 30});
}

/// Both reductions and their other tier share links, and each part of both ends on its own.
TEST(Simulate, TwoCollectivesShareEveryTierOfTheirs) {
    const Program program = program_of(
        {{backward(0, 0), ReduceGrad{Stage{0}}}, {backward(1, 0), ReduceGrad{Stage{1}}}}, 1);
    const Simulation s = simulate(program, TwoTiers(300));
    EXPECT_EQ(span_of(s, "0REDUCE_GRAD", 0).end - span_of(s, "0REDUCE_GRAD", 0).begin,
              nanoseconds{9 + 60});
    EXPECT_EQ(span_of(s, "1REDUCE_GRAD", 1).end, span_of(s, "0REDUCE_GRAD", 0).end);
}

TEST(Simulate, AReductionEndsAfterThePartThatItsBackwardHides) {
    const Program program = program_of({{backward(0, 0), ReduceGrad{Stage{0}}, backward(0, 1),
                                         ReduceGrad{Stage{0}}, OptimizerStep{}}},
                                       2);
    const Simulation s = simulate(program, BusyCluster(1));
    // 200 bytes from 5 ns on, over at 25; then what nothing hides.
    const Span& first = span_of(s, "0REDUCE_GRAD", 0);
    EXPECT_EQ(first.begin, at(20)) << "from the end of the backward on it is waited for";
    EXPECT_EQ(first.end, at(25 + 9));
    // Those of the second begin when the stream is free, not at 25.
    EXPECT_EQ(s.trace.spans[3].end, at(34 + 20 + 9));
}

TEST(Simulate, AForwardEndsAfterWhatIsGatheredBesideIt) {
    const Program program =
        program_of({{forward(0, 0), forward(0, 1), OptimizerStep{}, Unshard{Stage{0}}}}, 2);
    const Simulation s = simulate(program, BusyCluster(1));
    EXPECT_EQ(span_of(s, "0F0", 0).end, at(20 + 3));
    EXPECT_EQ(span_of(s, "0F0", 0).exposed, nanoseconds{13}) << "beyond the 10 of its own";
    EXPECT_EQ(span_of(s, "0F1", 0).end, at(33)) << "gathered once a step";
    EXPECT_EQ(span_of(s, "0UNSHARD", 0).end, at(33 + 6 + 7));
}

TEST(Simulate, WhatAPassSendsSharesLinksWithMessagesAndIsInItsTime) {
    const Program program =
        program_of({{forward(0, 0), Send{activation(0, 0), Rank{1}}, forward(0, 1)},
                    {Recv{activation(0, 0), Rank{0}}, forward(1, 0)}},
                   2);
    const Simulation alone = simulate(program, BusyCluster(2, 50));
    EXPECT_EQ(span_of(alone, "0F0", 0).end, at(10)) << "50 bytes take 5 of its 10 ns";
    // The message joins at 15: nobody is left whom it could disturb.
    EXPECT_EQ(span_of(alone, "0F1", 0).end, at(20));
    const Simulation both = simulate(program, BusyCluster(2, 100));
    EXPECT_EQ(span_of(both, "0F1", 0).end, at(10 + 15)) << "half of the link from 15 on";
    EXPECT_EQ(span_of(both, "0F1", 0).exposed, nanoseconds{5});
    EXPECT_EQ(span_of(both, "1RECV_F0", 1).end, at(10 + 5 + 15));
}

TEST(Simulate, NamesWhatWaitsForEver) {
    const Program program =
        program_of({{forward(0, 0)}, {Recv{activation(0, 0), Rank{0}}, forward(1, 0)}}, 1);
    Program stuck = program;
    stuck.ranks[0] = {Recv{{Message::Kind::Gradient, Stage{1}, {0, {}}}, Rank{1}}, backward(0, 0),
                      forward(0, 0), Send{activation(0, 0), Rank{1}}};
    stuck.ranks[1].push_back(backward(1, 0));
    stuck.ranks[1].push_back(Send{{Message::Kind::Gradient, Stage{1}, {0, {}}}, Rank{0}});
    try {
        simulate(stuck, SmallCluster(2));
        FAIL() << "a deadlock was played";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "error: the schedule waits forever: rank 0 at 0RECV_B0\n");
    }
}

}  // namespace
}  // namespace debubble::sim
