#include "tests/trace/profile/unnamed_run.h"

#include <gmock/gmock.h>

#include "schedule/generators/generators.h"
#include "tests/trace/profile/same_statistics.h"
#include "tests/trace/trace_of.h"
#include "trace/profile/formats/profile_files.h"
#include "trace/profile/runs/profiled_run.h"

namespace debubble::profile {
namespace {

using testing::HasSubstr;

ProfiledRun read_unnamed(const Trace& trace, UnnamedOptions options, const RunOptions& by = {}) {
    const UnnamedRun run(trace, options);
    std::vector<RankProfile> profiles;
    for (int r = 0; r < trace.header.pipeline; ++r)
        profiles.push_back(read_kineto_text(run.file(r), fmt::format("rank-{}.json", r)));
    return put_together(std::move(profiles), by);
}

PipelineCosts uneven_costs() {
    const auto us = [](int count) { return std::chrono::microseconds(count); };
    return {{{us(1001), us(997), us(613)}}, us(31), std::nullopt};
}

Trace trace_with_program(const Schedule& schedule, const PipelineCosts& costs = uneven_costs()) {
    Trace trace = trace_of(schedule, costs);
    trace.program = schedule;
    return trace;
}

using Actions = std::vector<std::tuple<std::string, std::int64_t, std::int64_t, int>>;

Actions actions_of(const Trace& trace) {
    Actions out;
    for (const Span& span : trace.spans)
        out.emplace_back(to_text(span.action), span.begin.time_since_epoch().count(),
                         span.end.time_since_epoch().count(), span.rank.index);
    std::ranges::sort(out);
    return out;
}

void expect_same_actions(const Trace& found, const Trace& truth) {
    const auto a = actions_of(found);
    const auto b = actions_of(truth);
    Actions wrong;
    std::ranges::set_difference(a, b, std::back_inserter(wrong));
    EXPECT_THAT(wrong, testing::IsEmpty());
    EXPECT_EQ(a.size(), b.size());
}

class UnnamedSchedules : public testing::TestWithParam<std::tuple<std::string, int>> {
protected:
    static Schedule schedule() {
        const Generator& generator = *find_generator(std::get<0>(GetParam()));
        PipelineShape shape{4, generator.stages_per_rank.value_or(1), 8, 1};
        // Of one stage per rank it is GPipe with its backwards in another order, which no kernel
        // shows.
        if (generator.name == "looped-bfs") shape.stages_per_rank = 2;
        if (generator.why_not(shape, {})) shape.stages_per_rank = 2;
        return generator.make(shape, {});
    }
};

TEST_P(UnnamedSchedules, HaveThePassesMessagesAndBubblesOfNamedOnes) {
    const Trace trace = trace_with_program(schedule());
    const ProfiledRun run = read_unnamed(trace, {.layers = std::get<1>(GetParam())});
    EXPECT_EQ(run.confidence(), 1.0);
    EXPECT_THAT(run.notes, testing::IsEmpty());
    for (const RankFacts& rank : run.ranks) {
        EXPECT_EQ(rank.layers, std::get<1>(GetParam()));
        EXPECT_THAT(rank.notes, testing::IsEmpty());
    }
    expect_same_actions(run.trace, trace);
    expect_same_statistics(trace, run.trace);
}

std::vector<std::string> schedules_of_one_stream() {
    std::vector<std::string> out;
    for (const Generator& generator : generators())
        if (!generator.overlaps && generator.name != "chimera" && generator.name != "seq-1f1b")
            out.emplace_back(generator.name);
    return out;
}

INSTANTIATE_TEST_SUITE_P(Generators, UnnamedSchedules,
                         testing::Combine(testing::ValuesIn(schedules_of_one_stream()),
                                          testing::Values(1, 2, 3)));

TEST(UnnamedRun, TellsHalvesOfABackwardWithoutLayoutsToo) {
    const Trace trace = trace_with_program(generate("zb-h1", {4, 1, 8, 1}));
    const ProfiledRun run = read_unnamed(trace, {.layers = 2, .layouts = false});
    EXPECT_EQ(run.order, "zb-h1");
    EXPECT_EQ(run.confidence(), 1.0);
    expect_same_actions(run.trace, trace);
}

TEST(UnnamedRun, FindsPassesBetweenPausesOfTheHost) {
    const Trace trace = trace_with_program(generate("interleaved-zb", {4, 2, 8, 1}));
    const ProfiledRun run = read_unnamed(trace, {.layers = 2, .pause = 5'000});
    expect_same_actions(run.trace, trace);
}

TEST(UnnamedRun, SaysThatTimesDoNotTellWhoseMessagesTheyAre) {
    const Trace trace = trace_with_program(generate("interleaved-1f1b", {4, 2, 8, 1}));
    const ProfiledRun run = read_unnamed(trace, {.layers = 2, .peers = false});
    EXPECT_EQ(run.order, "interleaved-1f1b");
    EXPECT_THAT(run.ranks[1].notes,
                testing::ElementsAre(HasSubstr("which transfer carries which message")));
    const auto passes = [](const Trace& of) {
        auto all = actions_of(of);
        std::erase_if(all, [](const auto& a) {
            return std::get<0>(a).find("SEND") != std::string::npos ||
                   std::get<0>(a).find("RECV") != std::string::npos;
        });
        return all;
    };
    EXPECT_EQ(passes(run.trace), passes(trace));
}

TEST(UnnamedRun, HasTheOrderThatItsMessagesFit) {
    // All forwards, then all backwards: the passes alone are those of GPipe with twice as many.
    const Trace trace = trace_with_program(generate("looped-bfs", {4, 2, 8, 1}));
    EXPECT_EQ(read_unnamed(trace, {}).order, "looped-bfs");
}

TEST(UnnamedRun, IsNamedByThePlanWhereNoScheduleIsKnown) {
    Schedule schedule = generate("zb-h1", {4, 1, 8, 1});
    std::swap(schedule.ranks[2][8], schedule.ranks[2][9]);
    schedule.name = "mine";
    const Trace trace = trace_with_program(schedule);
    const ProfiledRun unknown = read_unnamed(trace, {});
    EXPECT_FALSE(unknown.order);
    ASSERT_EQ(unknown.notes.size(), 1U);
    EXPECT_THAT(unknown.notes[0], HasSubstr("no known order fits the passes"));
    expect_same_actions(unknown.trace, trace);
    const ProfiledRun known = read_unnamed(trace, {}, {.program = schedule, .layers = {}});
    EXPECT_EQ(known.order, "mine");
    EXPECT_EQ(known.confidence(), 1.0);
}

}  // namespace
}  // namespace debubble::profile
