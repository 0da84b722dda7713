#include "schedule/lower.h"

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "schedule/dependencies.h"
#include "schedule/generators/generators.h"
#include "schedule/generators/writer.h"
#include "schedule/passes/passes.h"
#include "schedule/validate.h"
#include "tests/schedule/with_offload.h"

namespace debubble {
namespace {

LowerOptions plain(ReceivePlacement receive) {
    LowerOptions options;
    options.receive = receive;
    options.optimizer = OptimizerPlacement::None;
    return options;
}

std::string line_of(const Program& program, int rank) {
    std::string text;
    for (const Action& action : program.ranks[rank]) {
        if (!text.empty()) text += ' ';
        text += to_text(action);
    }
    return text;
}

TEST(Lower, SendsBehindTheProducerAndReceivesWhereAskedTo) {
    const Schedule order = generate("1f1b", {2, 1, 2});
    const Program late = lower(order, plain(ReceivePlacement::Late));
    EXPECT_EQ(line_of(late, 0), "0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1");
    EXPECT_EQ(line_of(late, 1), "1RECV_F0 1F0 1B0 1SEND_B0 1RECV_F1 1F1 1B1 1SEND_B1");
    const Program early = lower(order, plain(ReceivePlacement::Early));
    EXPECT_EQ(line_of(early, 0), "0F0 0SEND_F0 0RECV_B0 0F1 0SEND_F1 0RECV_B1 0B0 0B1");
    EXPECT_EQ(line_of(early, 1), "1RECV_F0 1F0 1RECV_F1 1B0 1SEND_B0 1F1 1B1 1SEND_B1");
    EXPECT_EQ(std::get<Recv>(early.ranks[1][0]).from, Rank{0});
}

TEST(Lower, ReceivesForBothHalvesOfAnOverlap) {
    Schedule order = empty_schedule("overlap", {2, 1, 2});
    RankWriter(order.ranks[0]).forward(0, 0).forward(0, 1).backward(0, 0).backward(0, 1);
    RankWriter(order.ranks[1])
        .forward(1, 0)
        .overlap({Pass::Forward, Stage{1}, {1, {}}}, {Pass::Backward, Stage{1}, {0, {}}})
        .backward(1, 1);
    EXPECT_EQ(line_of(lower(order, plain(ReceivePlacement::Late)), 1),
              "1RECV_F0 1F0 1RECV_F1 (1F1;1B0)OVERLAP_F_B 1SEND_B0 1B1 1SEND_B1");
}

TEST(Lower, ReceivesInTheOrderOfSendingWhateverTheOrderOfUse) {
    Schedule order = empty_schedule("crossed", {2, 1, 2});
    RankWriter(order.ranks[0]).forward(0, 0).forward(0, 1).backward(0, 0).backward(0, 1);
    RankWriter(order.ranks[1]).forward(1, 1).forward(1, 0).backward(1, 0).backward(1, 1);
    const Program program = lower(order, plain(ReceivePlacement::Late));
    EXPECT_EQ(line_of(program, 1), "1RECV_F0 1RECV_F1 1F1 1F0 1B0 1SEND_B0 1B1 1SEND_B1");
    EXPECT_TRUE(validate(program).empty());
}

TEST(Lower, TakesInMoreWhereARingWouldJam) {
    const Schedule order = generate("looped-bfs", {2, 2, 8});
    const LowerOptions late = plain(ReceivePlacement::Late);
    const auto jam = validate(add_send_recv(order, late), Transport::IssueOrdered);
    ASSERT_EQ(jam.size(), 1u);
    EXPECT_EQ(jam[0].message,
              "rank 0 waits at 0SEND_F2 for rank 1, which waits at 1SEND_F0 for rank 0");
    EXPECT_TRUE(validate(add_send_recv(order, late), Transport::Buffered).empty());
    EXPECT_TRUE(validate(lower(order, late)).empty());
}

LowerOptions zero(int stage) {
    LowerOptions options = plain(ReceivePlacement::Late);
    options.data_parallel = true;
    options.zero_stage = stage;
    options.shard_by_stage = true;
    options.optimizer = OptimizerPlacement::Synchronized;
    return options;
}

TEST(Lower, SharesGradientsAndParametersAsZeroSays) {
    const Schedule order = generate("gpipe", {1, 1, 2});
    const std::string end = "GRAD_NORM OPTIMIZER_STEP";
    EXPECT_EQ(line_of(lower(order, zero(0)), 0), "0F0 0F1 0B0 0B1 0REDUCE_GRAD " + end);
    EXPECT_EQ(line_of(lower(order, zero(1)), 0),
              "0F0 0F1 0B0 0B1 0REDUCE_GRAD " + end + " 0UNSHARD");
    EXPECT_EQ(line_of(lower(order, zero(2)), 0),
              "0F0 0F1 0B0 0REDUCE_GRAD 0B1 0REDUCE_GRAD " + end + " 0UNSHARD");
    EXPECT_EQ(line_of(lower(order, zero(3)), 0),
              "0UNSHARD 0F0 0F1 0B0 0REDUCE_GRAD 0B1 0RESHARD 0REDUCE_GRAD " + end);
    LowerOptions by_layer = zero(3);
    by_layer.shard_by_stage = false;
    EXPECT_EQ(line_of(lower(order, by_layer), 0), "0F0 0F1 0B0 0B1 " + end)
        << "all of it happens inside the computes";
}

TEST(Lower, ReducesBehindTheLastWeightGradient) {
    const Program program = lower(generate("zb-h1", {2, 1, 3}), zero(0));
    for (const ActionList& list : program.ranks) {
        ASSERT_GT(list.size(), 4u);
        const auto last = list.end() - 4;
        EXPECT_EQ(std::get<Compute>(last[0]).pass, Pass::BackwardWeight);
        EXPECT_TRUE(std::holds_alternative<ReduceGrad>(last[1]));
    }
}

/// Per rank, how many passes know that a reduction follows.
std::vector<int> announced(const Program& program) {
    std::vector<int> counts;
    for (const ActionList& list : program.ranks) {
        int count = 0;
        for (std::size_t i = 0; i < list.size(); ++i)
            for_each_compute(list[i], [&](const Compute& c) {
                if (!reduction_follows(list, i, c)) return;
                ++count;
                EXPECT_NE(c.pass, Pass::Forward);
                EXPECT_NE(c.pass, Pass::BackwardInput);
            });
        counts.push_back(count);
    }
    return counts;
}

TEST(Lower, ThePassBeforeAReductionKnowsOfIt) {
    LowerOptions options;
    options.data_parallel = true;
    for (const auto& [name, stages] :
         {std::pair{"1f1b", 1}, {"gpipe", 1}, {"zb-h1", 1}, {"zb-v", 2}, {"interleaved-1f1b", 2}}) {
        const Schedule order = generate(name, {2, stages, 4});
        options.zero_stage = 1;
        EXPECT_THAT(announced(lower(order, options)), testing::Each(stages)) << name;
        options.zero_stage = 2;
        EXPECT_THAT(announced(lower(order, options)), testing::Each(4 * stages)) << name;
        options.zero_stage = 3;  // inside the passes
        EXPECT_THAT(announced(lower(order, options)), testing::Each(0)) << name;
    }
    EXPECT_THAT(announced(lower(generate("1f1b", {2, 1, 4}), {})), testing::Each(0));
}

TEST(Lower, OfAnOverlapTheOtherHalfCountsToo) {
    const Compute backward{Pass::Backward, Stage{0}, {0, {}}};
    const Compute next{Pass::Backward, Stage{0}, {1, {}}};
    const Compute forward{Pass::Forward, Stage{0}, {2, {}}};
    const Action reduce = ReduceGrad{Stage{0}};
    EXPECT_TRUE(reduction_follows({Overlap{forward, backward}, reduce}, 0, backward));
    EXPECT_TRUE(reduction_follows({Overlap{backward, forward}, reduce}, 0, backward));
    EXPECT_FALSE(reduction_follows({Overlap{backward, next}, reduce}, 0, backward));
    EXPECT_TRUE(reduction_follows({Overlap{backward, next}, reduce}, 0, next));
    EXPECT_FALSE(reduction_follows({backward, next, reduce}, 0, backward));
}

TEST(Lower, GathersAStageWhileTheOneBeforeItComputes) {
    Schedule order = empty_schedule("two", {1, 2, 2});
    RankWriter(order.ranks[0]).forward(0, 0).forward(0, 1).forward(1, 0).forward(1, 1);
    RankWriter(order.ranks[0]).backward(1, 0).backward(1, 1).backward(0, 0).backward(0, 1);
    LowerOptions options = zero(3);
    options.optimizer = OptimizerPlacement::None;
    EXPECT_EQ(line_of(lower(order, options), 0),
              "0UNSHARD 0F0 1UNSHARD 0F1 0RESHARD 1F0 1F1 1B0 1REDUCE_GRAD 0UNSHARD 1B1 1RESHARD "
              "1REDUCE_GRAD 0B0 0REDUCE_GRAD 0B1 0RESHARD 0REDUCE_GRAD");
}

TEST(Lower, ReducesOverTheHoldersOfAStageInOneOrder) {
    const Schedule order = generate("dualpipe", {4, 1, 8});
    for (const int stage : {-1, 0, 2}) {
        LowerOptions options = zero(std::max(stage, 0));
        options.data_parallel = stage >= 0;
        const Program program = lower(order, options);
        EXPECT_TRUE(validate(program).empty());
        const auto reductions = [&](int rank) {
            std::vector<Stage> stages;
            for (const Action& action : program.ranks[rank])
                if (const auto* r = std::get_if<ReduceGrad>(&action)) stages.push_back(r->stage);
            return stages;
        };
        EXPECT_EQ(reductions(0), reductions(3)) << "both hold stages 0 and 3";
        EXPECT_EQ(reductions(0).size(), stage == 2 ? 8u : 2u);
    }
}

/// Of the tests that need a schedule with OFFLOAD and RELOAD.
TEST(WithOffload, OffloadsWhatIsNotNeededSoon) {
    const LowerOptions options = plain(ReceivePlacement::Late);
    const Program program = with_offload(lower(generate("gpipe", {2, 1, 3}), options));
    EXPECT_EQ(line_of(program, 0),
              "0F0 0SEND_F0 0OFFLOAD0 0F1 0SEND_F1 0RELOAD0 0OFFLOAD1 0F2 0SEND_F2 0OFFLOAD2 "
              "0RECV_B0 0RELOAD1 0B0 0RECV_B1 0RELOAD2 0B1 0RECV_B2 0B2");
    EXPECT_TRUE(validate(program).empty());
    EXPECT_EQ(line_of(with_offload(lower(generate("1f1b", {1, 1, 2}), options)), 0),
              "0F0 0B0 0F1 0B1");
}

TEST(Lower, SumsTiedGradientsOncePerRankThatHoldsACopy) {
    LowerOptions options = zero(0);
    options.tied = {Stage{0}, Stage{3}};
    const Program program = lower(generate("1f1b", {4, 1, 4}), options);
    EXPECT_THAT(line_of(program, 0), testing::EndsWith("0B3 0REDUCE_GRAD 0TIED_GRAD GRAD_NORM "
                                                       "OPTIMIZER_STEP"));
    EXPECT_THAT(line_of(program, 3), testing::HasSubstr("3REDUCE_GRAD 3TIED_GRAD"));
    EXPECT_THAT(line_of(program, 1), testing::Not(testing::HasSubstr("TIED")));
}

TEST(Lower, ValidatesTheStepAfterwardsIfAskedTo) {
    LowerOptions options = zero(1);
    options.optimizer = OptimizerPlacement::PostValidated;
    EXPECT_THAT(line_of(lower(generate("gpipe", {1, 1, 1}), options), 0),
                testing::EndsWith("0REDUCE_GRAD OPTIMIZER_STEP 0UNSHARD GRAD_NORM"));
}

TEST(LowerTo, EndsWithTheWholeProgramForEverySchedule) {
    int checked = 0;
    for (const Generator& row : generators()) {
        PipelineShape shape{4, row.stages_per_rank.value_or(1), 8};
        if (row.name == std::string_view("seq-1f1b")) shape.slices = 2;
        Schedule order;
        try {
            order = generate(row.name, shape);
        } catch (const InputError&) {
            continue;  // this shape is not its own
        }
        for (const NamedTransport& on : kTransports) {
            LowerOptions options = zero(3);
            options.transport = on.transport;
            const PartlyLowered last = lower_to(lowering_passes().back().name, order, options);
            EXPECT_EQ(last.schedule, lower(order, options)) << row.name << " on " << on.name;
            ASSERT_EQ(last.changes.size(), lowering_passes().size());
            ++checked;
        }
    }
    EXPECT_GT(checked, 60);
}

TEST(LowerTo, TellsWhatEachPassHasChanged) {
    const Schedule order = generate("looped-bfs", {2, 2, 8});
    const PartlyLowered all = lower_to("receive-in-time", order, zero(2));
    std::map<std::string_view, PassChanges> of;
    for (const PassChanges& changes : all.changes) of[changes.pass] = changes;
    // Two ranks with two stages each: three boundaries are crossed by 8 activations and 8
    // gradients.
    EXPECT_EQ(of["send-recv"].added,
              (std::map<std::string, std::size_t>{{"RECV", 48}, {"SEND", 48}}));
    EXPECT_EQ(of["optimizer"].added.size(), 2u);
    EXPECT_TRUE(of["tied-grad"].unchanged());
    EXPECT_TRUE(of["receive-in-time"].added.empty());
    EXPECT_GT(of["receive-in-time"].moved, 0u);
    const std::size_t moved = of["receive-in-time"].moved;
    const PartlyLowered jammed = lower_to("unshard-reshard", order, zero(2));
    std::size_t elsewhere = 0;
    for (std::size_t r = 0; r < 2; ++r)
        for (std::size_t i = 0; i < jammed.schedule.ranks[r].size(); ++i)
            elsewhere += jammed.schedule.ranks[r][i] != all.schedule.ranks[r][i] ? 1 : 0;
    EXPECT_GE(elsewhere, moved + 1);  // who makes room for another stands elsewhere too
}

TEST(LowerTo, RefusesAPassThatDoesNotExistAndNamesThose) {
    try {
        lower_to("sends", generate("gpipe", {2, 1, 2}), {});
        FAIL();
    } catch (const InputError& e) {
        EXPECT_THAT(e.what(),
                    testing::HasSubstr("there is no pass 'sends'; the passes are send-recv, "));
    }
}

}  // namespace
}  // namespace debubble
