#include "trace/action_log.h"

#include <gtest/gtest.h>

#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "tests/schedule/with_offload.h"
#include "tests/schedule/with_recompute.h"

namespace debubble {
namespace {

/// Lowered with everything that a rank can be asked for.
std::vector<Program> programs() {
    std::vector<Program> all;
    for (const Generator& generator : generators())
        for (const int stages_per_rank : {1, 2})
            for (const int slices : {1, 2}) {
                const PipelineShape shape{2, stages_per_rank, 4, slices};
                if (generator.why_not(shape, {})) continue;
                const Schedule schedule = generator.make(shape, {});
                const Stage last{schedule.stage_count() - 1};
                LowerOptions options;
                options.tied = {Stage{0}, last};
                options.data_parallel = true;
                options.zero_stage = 2;
                all.push_back(
                    with_recompute(with_offload(lower(schedule, options), {Stage{0}}), {last}));
            }
    return all;
}

bool is_receive(const Action& action) {
    return std::holds_alternative<Recv>(action);
}

TEST(AnActionLog, OfTheListItselfDiffersInNothing) {
    for (const Program& program : programs())
        for (const ActionList& list : program.ranks) {
            const ActionLog log = log_of(list, program.stage_count());
            EXPECT_EQ(first_difference(log, log_of(list, program.stage_count())), std::nullopt);
        }
}

/// A receive may be asked for ahead of its turn: which computes it passes then is not told.
TEST(AnActionLog, TellsEveryExchangeOfNeighboursInAList) {
    std::size_t exchanges = 0;
    for (const Program& program : programs())
        for (const ActionList& list : program.ranks)
            for (std::size_t i = 1; i < list.size(); ++i) {
                ActionList other = list;
                std::swap(other[i - 1], other[i]);
                const bool may_pass =
                    list[i - 1] == list[i] || is_receive(list[i - 1]) != is_receive(list[i]);
                EXPECT_EQ(first_difference(log_of(list, program.stage_count()),
                                           log_of(other, program.stage_count()))
                              .has_value(),
                          !may_pass)
                    << program.name << ": " << to_text(list[i - 1]) << " and " << to_text(list[i]);
                ++exchanges;
            }
    EXPECT_GT(exchanges, 1000u);
}

TEST(AnActionLog, TellsEveryActionThatIsLeftOutOrDoneTwice) {
    for (const Program& program : programs())
        for (const ActionList& list : program.ranks)
            for (std::size_t i = 0; i < list.size(); ++i) {
                const ActionLog log = log_of(list, program.stage_count());
                ActionList less = list, more = list;
                less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
                more.push_back(list[i]);
                EXPECT_NE(first_difference(log, log_of(less, program.stage_count())), std::nullopt);
                EXPECT_NE(first_difference(log, log_of(more, program.stage_count())), std::nullopt);
            }
}

TEST(AnActionLog, SaysWhereItLeavesTheListFirst) {
    const Program program = lower(generate("gpipe", {2, 1, 2, 1}), {});
    const ActionLog expected = log_of(program.ranks[1], 2);
    const auto said = [&](const ActionLog& log) { return first_difference(expected, log); };
    ActionLog log = expected;
    log.actions.resize(3);
    EXPECT_EQ(said(log), "never ran 1SEND_B0 to rank 0 (4 of 8)");
    log = expected;
    log.actions.emplace_back(OptimizerStep{});
    EXPECT_EQ(said(log), "ran OPTIMIZER_STEP beyond the end of its list");
    log = expected;
    std::swap(log.results[0], log.results[1]);
    EXPECT_EQ(said(log),
              "took the activation of stage 0 for microbatch 1 where its list has the activation "
              "of stage 0 for microbatch 0 (1 of 4)");
    log = expected;
    log.receives[0].from = Rank{1};
    EXPECT_EQ(said(log),
              "requested 1RECV_F0 from rank 1 where its list has 1RECV_F0 from rank 0 (1 of 2)");
}

}  // namespace
}  // namespace debubble
