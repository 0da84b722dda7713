#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "schedule/csv/csv.h"
#include "schedule/derived_programs.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "schedule/replay/replay.h"
#include "schedule/validate.h"
#include "tests/schedule/with_offload.h"
#include "tests/schedule/with_recompute.h"

/// What holds for every row of the generators' table and every shape that it
/// takes: a new generator is tested by being in the table.
namespace debubble {
namespace {

class Property : public testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(EveryGenerator, Property, testing::ValuesIn([] {
                             std::vector<std::string_view> names;
                             for (const Generator& row : generators()) names.push_back(row.name);
                             return names;
                         }()),
                         [](const auto& test) {
                             std::string name(test.param);
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

std::vector<Schedule> build_shapes(std::string_view name) {
    std::vector<Schedule> built;
    for (const int p : {1, 2, 3, 4, 6})
        for (const int v : {1, 2, 3})
            for (const int m : {1, 2, 3, 4, 7, 8, 12})
                for (const int k : {1, 3})
                    if (const PipelineShape shape{p, v, m, k};
                        !find_generator(name)->why_not(shape, {}))
                        built.push_back(generate(name, shape));
    return built;
}

/// Built once for all properties: some orders are searched for.
const std::vector<Schedule>& shapes_of(std::string_view name) {
    static std::map<std::string_view, std::vector<Schedule>> built;
    const auto [place, is_new] = built.try_emplace(name);
    if (is_new) place->second = build_shapes(name);
    return place->second;
}

template <class Visitor>
void for_each_shape(std::string_view name, Visitor&& visit) {
    EXPECT_GT(shapes_of(name).size(), 5u) << "hardly any shape was tried";
    for (const Schedule& schedule : shapes_of(name)) {
        const PipelineShape& shape = schedule.shape;
        SCOPED_TRACE(testing::Message()
                     << "p=" << shape.ranks << " v=" << shape.stages_per_rank
                     << " m=" << shape.micro_batches << " slices=" << shape.slices);
        visit(schedule);
        if (testing::Test::HasFailure()) return;  // one shape is enough to read
    }
}

struct Way {
    std::string name;
    LowerOptions options;
    std::vector<Stage> recomputed = {};
    bool offloads = false;
    Program lower(const Schedule& schedule) const {
        Program program = debubble::lower(schedule, options);
        return with_recompute(offloads ? with_offload(std::move(program)) : program, recomputed);
    }
};

/// The ways to lower, each differing from plain in what could go wrong.
std::vector<Way> ways_to_lower(const Schedule& schedule) {
    std::vector<Way> ways;
    for (const auto receive : {ReceivePlacement::Late, ReceivePlacement::Early}) {
        const std::string when = receive == ReceivePlacement::Late ? "late" : "early";
        LowerOptions plain;
        plain.receive = receive;
        plain.optimizer = OptimizerPlacement::None;
        ways.push_back({when + " receives", plain});
        for (const int zero : {0, 1, 2, 3}) {
            LowerOptions options;
            options.receive = receive;
            options.data_parallel = true;
            options.zero_stage = zero;
            options.shard_by_stage = true;
            options.optimizer = zero % 2 == 0 ? OptimizerPlacement::Synchronized
                                              : OptimizerPlacement::PostValidated;
            ways.push_back({when + " receives, ZeRO-" + std::to_string(zero), options});
        }
        Way all = ways.back();
        for (int s = 0; s < schedule.stage_count(); ++s) all.recomputed.push_back(Stage{s});
        all.offloads = true;
        all.options.tied = {Stage{0}, Stage{schedule.stage_count() - 1}};
        all.name = when + " receives, ZeRO-3, recomputed, offloaded, tied";
        ways.push_back(all);
    }
    return ways;
}

std::string first_of(const std::vector<Violation>& violations) {
    return violations.empty() ? std::string() : violations.front().message;
}

/// By stage: its computes of one microbatch, or all.
std::map<Stage, std::vector<Compute>> passes_of(const ActionList& list,
                                                const std::map<Stage, int>& micro_batches = {}) {
    std::map<Stage, std::vector<Compute>> passes;
    for (const Action& action : list)
        for_each_compute(action, [&](const Compute& c) {
            const auto only = micro_batches.find(c.stage);
            if (only == micro_batches.end() || only->second == c.micro_batch.index)
                passes[c.stage].push_back(c);
        });
    return passes;
}
std::set<Stage> offloaded_in(const ActionList& list) {
    std::set<Stage> stages;
    for (const Action& action : list)
        if (const auto* offload = std::get_if<Offload>(&action)) stages.insert(offload->stage);
    return stages;
}

std::vector<ActionList> computes_of(const Schedule& schedule) {
    std::vector<ActionList> computes;
    for (const ActionList& list : schedule.ranks) {
        computes.emplace_back();
        for (const Action& action : list)
            for_each_compute(action, [&](const Compute& c) { computes.back().push_back(c); });
    }
    return computes;
}

TEST_P(Property, WritesAnOrderWithoutViolations) {
    for_each_shape(GetParam(), [](const Schedule& s) { EXPECT_EQ(first_of(validate(s)), ""); });
}

TEST_P(Property, FinishesUnderEveryTransportHoweverItIsLowered) {
    for_each_shape(GetParam(), [](const Schedule& schedule) {
        for (const Way& way : ways_to_lower(schedule)) {
            const std::string& name = way.name;
            const Program program = way.lower(schedule);
            EXPECT_EQ(first_of(validate(program)), "") << name;
            EXPECT_EQ(computes_of(program), computes_of(schedule)) << name << " keeps the order";
        }
    });
}

TEST_P(Property, IsLoweredForEveryTransportToAnOrderThatFinishesThere) {
    for_each_shape(GetParam(), [](const Schedule& schedule) {
        for (const NamedTransport& named : kTransports) {
            LowerOptions options;
            options.transport = named.transport;
            options.data_parallel = true;
            options.zero_stage = 1;
            const Program program = lower(schedule, options);
            EXPECT_EQ(first_of(validate(program, named.transport)), "") << named.name;
            EXPECT_EQ(first_of(validate(program)), "") << named.name << ", as it is executed";
            EXPECT_EQ(computes_of(program), computes_of(schedule)) << named.name;
        }
    });
}

/// Each stage of each rank goes through all its passes of one microbatch, and that ends.
TEST_P(Property, IsRehearsedByOneMicroBatchOfEveryStage) {
    for_each_shape(GetParam(), [](const Schedule& schedule) {
        for (const Way& way : ways_to_lower(schedule)) {
            const std::string& name = way.name;
            const Program program = way.lower(schedule);
            const Program rehearsal = rehearsal_of(program);
            for (const Violation& violation : validate(rehearsal))
                EXPECT_EQ(violation.kind, Violation::Kind::Missing)
                    << name << ": " << violation.message;
            for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
                const auto passes = passes_of(rehearsal.ranks[rank]);
                std::map<Stage, int> rehearsed;
                for (const auto& [stage, of_stage] : passes)
                    rehearsed[stage] = of_stage.front().micro_batch.index;
                EXPECT_EQ(passes, passes_of(program.ranks[rank], rehearsed)) << name;
                EXPECT_EQ(rehearsed.size(), passes_of(program.ranks[rank]).size()) << name;
                EXPECT_EQ(offloaded_in(rehearsal.ranks[rank]), offloaded_in(program.ranks[rank]))
                    << name << ", rank " << rank;
            }
        }
    });
}

/// Its stages begin with different microbatches, and hand over to each other.
TEST(Rehearsal, TakesTheSameMicroBatchWhereStagesHandOver) {
    const Schedule schedule =
        read_csv("0F0,0F1,1F1,1F0,1B1,1B0,0B1,0B0\n", {"own.csv", "own", {}}).schedule;
    EXPECT_EQ(first_of(validate(schedule)), "");
    const Program rehearsal = rehearsal_of(lower(schedule, {}));
    std::string rehearsed;
    for (const Action& action : rehearsal.ranks[0]) rehearsed += to_text(action) + " ";
    EXPECT_EQ(rehearsed, "0F0 1F0 1B0 0B0 ");
}

TEST_P(Property, SendsAndReceivesEachBoundaryOnceAndNothingElse) {
    for_each_shape(GetParam(), [](const Schedule& schedule) {
        std::set<Message> sent;
        std::set<Message> received;
        std::size_t ends = 0;
        for (const ActionList& list : lower(schedule, {}).ranks)
            for (const Action& action : list) {
                if (const auto* send = std::get_if<Send>(&action)) sent.insert(send->message);
                if (const auto* recv = std::get_if<Recv>(&action)) received.insert(recv->message);
                ends +=
                    std::holds_alternative<Send>(action) || std::holds_alternative<Recv>(action);
            }
        EXPECT_EQ(sent, received);
        EXPECT_EQ(ends, sent.size() + received.size());
        const PipelineShape& shape = schedule.shape;
        if (schedule.placement.name() != "loop" || shape.ranks == 1) return;
        const int boundaries = schedule.stage_count() - 1;
        EXPECT_EQ(sent.size(),
                  static_cast<std::size_t>(2 * boundaries * shape.micro_batches * shape.slices));
    });
}

TEST_P(Property, FreesAllThatItHolds) {
    for_each_shape(GetParam(), [](const Schedule& schedule) {
        for (const ActionList& list : schedule.ranks) {
            int live = 0;
            for (const Action& action : list) {
                for_each_compute(action, [&](const Compute& c) {
                    live += c.pass == Pass::Forward;
                    live -= c.pass == Pass::Backward || c.pass == Pass::BackwardWeight;
                });
                EXPECT_GE(live, 0);
            }
            EXPECT_EQ(live, 0);
        }
    });
}

TEST_P(Property, RoundTripsThroughCsv) {
    for_each_shape(GetParam(), [](const Schedule& schedule) {
        const CsvOptions options{"test.csv", schedule.name, {}};
        EXPECT_EQ(read_csv(write_csv(schedule), options).schedule, schedule);
        for (const Way& way : ways_to_lower(schedule)) {
            const std::string& name = way.name;
            const Program program = way.lower(schedule);
            EXPECT_EQ(read_csv(write_csv(program), options).schedule, program) << name;
        }
        EXPECT_EQ(read_placement(write_placement(schedule.placement), "p.csv"), schedule.placement);
    });
}

/// Some rank holds both the stage and the next one, so that their boundary may be no link.
bool may_stay(const Placement& placement, int stage) {
    const auto here = placement.ranks_of(Stage{stage});
    const auto next = placement.ranks_of(Stage{stage + 1});
    return std::ranges::any_of(here,
                               [&](Rank r) { return std::ranges::find(next, r) != next.end(); });
}

/// Per rank: the shortest way to its first op, its work, the shortest way from its last one.
Duration least_makespan(const Schedule& schedule, const PipelineCosts& costs) {
    const int stages = schedule.stage_count();
    const int k = schedule.shape.slices;
    std::vector<Duration> head(stages, Duration{});
    std::vector<Duration> tail(stages, Duration{});
    for (int s = 1; s < stages; ++s) {
        const Duration link = may_stay(schedule.placement, s - 1) ? Duration{} : costs.link;
        const StageCosts& before = costs.of(Stage{s - 1});
        head[s] = head[s - 1] + before.forward / k + link;
        tail[s] = tail[s - 1] + before.backward_input / k + link;
    }
    Duration bound{};
    for (const ActionList& list : schedule.ranks) {
        Duration first = Duration::max();
        Duration after = Duration::max();
        Duration work{};
        for (const Action& action : list)
            for_each_compute(action, [&](const Compute& c) {
                const StageCosts& stage = costs.of(c.stage);
                first = std::min(first, head[c.stage.index]);
                const bool last = c.pass == Pass::Backward;
                if (c.pass == Pass::BackwardWeight) after = Duration{};
                if (last) after = std::min(after, tail[c.stage.index]);
                if (c.pass == Pass::Forward) work += stage.forward / k;
                if (c.pass == Pass::BackwardInput || last) work += stage.backward_input / k;
                if (c.pass == Pass::BackwardWeight || last) work += stage.backward_weight / k;
            });
        if (work > Duration{}) bound = std::max(bound, first + work + after);
    }
    return bound;
}

TEST_P(Property, TakesAtLeastWhatItsBusiestRankNeeds) {
    for_each_shape(GetParam(), [](const Schedule& schedule) {
        for (const int link : {0, 100, 2000}) {
            PipelineCosts costs{{}, Duration{link}, std::nullopt};
            for (int s = 0; s < schedule.stage_count(); ++s)
                costs.stages.push_back(
                    {Duration{900 + 30 * s}, Duration{1200 - 15 * s}, Duration{600 + 3 * s}});
            const Replay played = replay(schedule, costs);
            EXPECT_GE(played.makespan, least_makespan(schedule, costs)) << "link " << link;
            EXPECT_GE(played.bubble, 0);
            EXPECT_GE(played.span_bubble, 0);
            EXPECT_LE(played.span_bubble, 1);
        }
    });
}

TEST_P(Property, LosesItsValidityWithAnyComputeThatIsTakenAway) {
    for_each_shape(GetParam(), [](const Schedule& schedule) {
        if (schedule.shape.micro_batches > 4) return;  // every one of the small shapes
        for (std::size_t r = 0; r < schedule.ranks.size(); ++r)
            for (std::size_t i = 0; i < schedule.ranks[r].size(); ++i) {
                Schedule less = schedule;
                less.ranks[r].erase(less.ranks[r].begin() + static_cast<std::ptrdiff_t>(i));
                EXPECT_NE(first_of(validate(less)), "");
            }
    });
}

}  // namespace
}  // namespace debubble
