#include "exec/core/interpreter/run_step.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "schedule/validate.h"
#include "tests/exec/core/interpreter/fake_training.h"
#include "tests/exec/core/interpreter/forwarding.h"
#include "tests/schedule/with_offload.h"
#include "tests/schedule/with_recompute.h"
#include "trace/executed_order.h"

namespace debubble::exec {
namespace {

using fake::Disturbed;
using fake::Forwarding;
using fake::gpipe_of_two;
using fake::Job;
using fake::RankResult;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

struct Lowering {
    const char* name;
    LowerOptions options;
    int data = 1;
    std::vector<Stage> recomputed = {};
    std::vector<Stage> offloaded = {};
};

/// Every way in which a Program can be lowered: all actions occur in some of them.
std::vector<Lowering> lowerings(const Schedule& schedule) {
    const Stage first{0}, last{schedule.stage_count() - 1};
    std::vector<Lowering> all;
    all.push_back({"Plain", {}, 1});
    all.push_back({"Late", {}, 1});
    all.back().options.receive = ReceivePlacement::Late;
    all.push_back({"TiedRecomputedOffloaded", {}, 1});
    all.back().options.tied = {first, last};
    all.back().recomputed = {first, last};
    all.back().offloaded = {first};
    all.push_back({"PostValidatedZero1", {}, 2});
    all.back().options.optimizer = OptimizerPlacement::PostValidated;
    all.back().options.data_parallel = true;
    all.back().options.zero_stage = 1;
    all.push_back({"Zero2", {}, 2});
    all.back().options.data_parallel = true;
    all.back().options.zero_stage = 2;
    all.push_back({"Zero3ByStage", {}, 2});
    all.back().options.data_parallel = true;
    all.back().options.zero_stage = 3;
    all.back().options.shard_by_stage = true;
    return all;
}

/// Expects on each rank the results of the model run in plain order.
void expect_right(const Job& job, const std::vector<RankResult>& results) {
    const Program& program = job.program;
    std::vector<fake::Results> expected;
    std::vector<double> gradients(static_cast<std::size_t>(program.stage_count()), 0);
    for (int replica = 0; replica < job.grid.replicas(); ++replica) {
        expected.push_back(fake::sequential(program, replica));
        for (std::size_t s = 0; s < gradients.size(); ++s)
            gradients[s] += static_cast<double>(expected.back().gradients[s]);
    }
    std::vector<double> losses(expected.size(), 0);
    for (std::size_t r = 0; r < results.size(); ++r) {
        const RankResult& result = results[r];
        const Rank rank{job.grid.place_of(static_cast<int>(r)).pipeline};
        losses[static_cast<std::size_t>(job.grid.replica_of(static_cast<int>(r)))] += result.loss;
        EXPECT_EQ(result.held_after.count, 0) << "memory returns to the static level";
        EXPECT_EQ(result.state.optimizer_steps, job.steps);
        EXPECT_EQ(result.state.norm, job.grid.size());
        EXPECT_THAT(result.differences, testing::Each(std::nullopt)) << "in every step";
        std::map<Action, int> listed;
        for (const Action& action : program.ranks[rank.index])
            for_each_compute(action, [&](const Compute& c) { ++listed[c]; });
        EXPECT_EQ(result.state.computes, listed) << "every compute exactly once";
        for (const Stage stage : program.placement.stages_of(rank)) {
            const auto in = [&](const std::map<Stage, double>& map) {
                const auto found = map.find(stage);
                return found == map.end() ? 0.0 : found->second;
            };
            EXPECT_EQ(in(result.state.partial) + in(result.state.reduced),
                      gradients[static_cast<std::size_t>(stage.index)])
                << "gradient of stage " << stage.index;
        }
    }
    for (std::size_t replica = 0; replica < expected.size(); ++replica)
        EXPECT_EQ(losses[replica], static_cast<double>(expected[replica].loss));
}

void expect_executed(const Job& job, Trace trace) {
    trace.header.program_hash = program_hash(job.program);
    trace.header.folded = job.grid.replicas() == 1;
    EXPECT_THAT(executed_in_order(job.program, trace), IsEmpty());
    std::size_t actions = 0;
    for (const ActionList& list : job.program.ranks) actions += list.size();
    EXPECT_EQ(trace.spans.size(), actions * static_cast<std::size_t>(job.grid.replicas()));
    ASSERT_EQ(trace.peaks.size(), job.program.ranks.size());
    for (const MemoryPeak& peak : trace.peaks) {
        EXPECT_GT(total(peak.held).count, 0);
        EXPECT_THAT(peak.action, testing::Not(IsEmpty()));
    }
}

struct Case {
    const Generator* generator;
    PipelineShape shape;
    Transport transport;
    ReceivePosting posting;
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Generator& generator : generators())
        for (const int p : {1, 2, 4})
            for (const int m : {p, 2 * p, 2 * p + 1})
                for (const int v : {1, 2})
                    for (const int slices : {1, 2}) {
                        const PipelineShape shape{p, v, m, slices};
                        if (generator.why_not(shape, {})) continue;
                        using enum ReceivePosting;
                        all.push_back({&generator, shape, Transport::Buffered, Early});
                        all.push_back({&generator, shape, Transport::Own, Early});
                        all.push_back({&generator, shape, Transport::Own, InListOrder});
                    }
    return all;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
    const Case& it = info.param;
    std::string name = std::string(it.generator->name) + "_p" + std::to_string(it.shape.ranks) +
                       "v" + std::to_string(it.shape.stages_per_rank) + "m" +
                       std::to_string(it.shape.micro_batches) + "k" +
                       std::to_string(it.shape.slices) + "_" +
                       (it.transport == Transport::Buffered   ? "Buffered"
                        : it.posting == ReceivePosting::Early ? "Rendezvous"
                                                              : "InListOrder");
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class EveryGenerator : public testing::TestWithParam<Case> {};

TEST_P(EveryGenerator, RunsAndGivesTheResultsOfOneRank) {
    const auto& [generator, shape, transport, posting] = GetParam();
    const Schedule schedule = generator->make(shape, {});
    for (const Lowering& lowering : lowerings(schedule)) {
        SCOPED_TRACE(lowering.name);
        const Job job{
            with_recompute(with_offload(lower(schedule, lowering.options), lowering.offloaded),
                           lowering.recomputed),
            {1, 1, lowering.data, shape.ranks},
            transport,
            posting,
            2};
        ASSERT_THAT(validate(job.program, transport), IsEmpty());
        Trace trace;
        const std::vector<RankResult> results = fake::run(job, &trace);
        expect_right(job, results);
        expect_executed(job, std::move(trace));
    }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryGenerator, testing::ValuesIn(cases()), name_of);

TEST(EveryGeneratorOfTheTable, HasACase) {
    std::set<std::string_view> names, tested;
    for (const Generator& generator : generators()) names.insert(generator.name);
    for (const Case& it : cases()) tested.insert(it.generator->name);
    EXPECT_EQ(tested, names);
}

/// Exchanges the two actions in the rank's list.
Program exchanged(Program program, int rank, const Action& one, const Action& other) {
    ActionList& list = program.ranks[rank];
    const auto first = std::ranges::find(list, one), second = std::ranges::find(list, other);
    EXPECT_TRUE(first != list.end() && second != list.end());
    std::swap(*first, *second);
    return program;
}

std::string difference_in(const RankResult& result, int step) {
    return result.differences.at(static_cast<std::size_t>(step)).value_or("");
}

/// Their trace is that of another step, which equals the program.
TEST(TheProofOfEveryStep, SeesTwoActionsThatAreExchangedInOneStepOnly) {
    const auto forward = [](int mb) { return Compute{Pass::Forward, Stage{0}, {mb, {}}}; };
    Job job{lower(generate("gpipe", {1, 1, 4, 1}), {}), {1, 1, 1, 1}};
    job.steps = 6;
    job.instead[3] = exchanged(job.program, 0, forward(1), forward(2));
    Trace trace;
    const RankResult result = fake::run(job, &trace).at(0);
    EXPECT_EQ(difference_in(result, 3), "ran 0F2 where its list has 0F1 (2 of 10)");
    for (const int step : {0, 1, 2, 4, 5}) EXPECT_EQ(difference_in(result, step), "") << step;
    expect_executed(job, std::move(trace));
}

TEST(TheProofOfEveryStep, SeesMessagesThatAreExchanged) {
    const Message first{Message::Kind::Activation, Stage{0}, {0, {}}};
    const Message second{Message::Kind::Activation, Stage{0}, {1, {}}};
    Job job{gpipe_of_two(), {1, 1, 1, 2}};
    Program other = exchanged(job.program, 1, Recv{first, Rank{0}}, Recv{second, Rank{0}});
    const auto send = [&](int mb) { return Send{mb == 0 ? first : second, Rank{1}}; };
    const auto forward = [](int mb) { return Compute{Pass::Forward, Stage{0}, {mb, {}}}; };
    other = exchanged(exchanged(other, 0, send(0), send(1)), 0, forward(0), forward(1));
    job.instead[0] = other;
    const std::vector<RankResult> results = fake::run(job);
    EXPECT_EQ(difference_in(results[0], 0), "ran 0F1 where its list has 0F0 (1 of 8)");
    EXPECT_EQ(difference_in(results[1], 0),
              "requested 1RECV_F1 from rank 0 where its list has 1RECV_F0 from rank 0 (1 of 2)");
}

/// Keeps every other weight pass back until the next one, in whose span it then runs.
class WeightsLater final : public Forwarding {
public:
    using Forwarding::Forwarding;
    void backward_weight(const MicroBatch& mb) override {
        if (!kept_) {
            kept_ = mb;
            return;
        }
        Forwarding::backward_weight(*std::exchange(kept_, std::nullopt));
        Forwarding::backward_weight(mb);
    }

private:
    std::optional<MicroBatch> kept_;
};

/// The sums are right, and the spans are labelled as the list has them.
TEST(TheProofOfEveryStep, SeesWeightPassesThatRunInTheSpansOfOthers) {
    Job job{lower(generate("zb-h1", {2, 1, 4, 1}), {}), {1, 1, 1, 2}};
    job.wrap = [](Stage, std::unique_ptr<StageRunner> inner) -> std::unique_ptr<StageRunner> {
        return std::make_unique<WeightsLater>(std::move(inner));
    };
    Trace trace;
    const std::vector<RankResult> results = fake::run(job, &trace);
    for (const RankResult& result : results)
        EXPECT_THAT(difference_in(result, 0),
                    MatchesRegex("ran .* where its list has [01]W0 \\([0-9]+ of [0-9]+\\)"));
    expect_executed(job, std::move(trace));
}

class EveryTransport : public testing::TestWithParam<Transport> {};

TEST_P(EveryTransport, AStageThatThrowsEndsAllRanksWithItsSentence) {
    Job job{gpipe_of_two(), {1, 1, 1, 2}, GetParam()};
    job.wrap = [](Stage stage, std::unique_ptr<StageRunner> inner) -> std::unique_ptr<StageRunner> {
        return std::make_unique<Disturbed>(std::move(inner), [stage](const MicroBatch& mb) {
            if (stage.index == 1 && mb.index == 1) throw WorldError("the disk of stage 1 is full");
        });
    };
    try {
        fake::run(job);
        FAIL() << "the run ends";
    } catch (const WorldError& error) {
        EXPECT_STREQ(error.what(), "the disk of stage 1 is full");
    }
}

TEST_P(EveryTransport, ADefectThatOneRankMeetsEndsAllRanksWithItsSentence) {
    Job job{gpipe_of_two(), {1, 1, 1, 2}, GetParam()};
    Program deaf = job.program;
    std::erase_if(deaf.ranks[1],
                  [](const Action& action) { return std::holds_alternative<Recv>(action); });
    job.instead[0] = deaf;
    try {
        fake::run(job);
        FAIL() << "the run ends";
    } catch (const Defect& defect) {
        EXPECT_THAT(defect.what(),
                    MatchesRegex("debubble has a defect at exec/core/interpreter/messages.cpp:"
                                 "[0-9]+: .* the result of stage 0 and microbatch 0 before its "
                                 "use, but `here != here_.end\\(\\)` is false"));
    }
}

TEST_P(EveryTransport, ARankThatStallsEndsTheRunAtTheDeadline) {
    std::atomic<bool> over = false;
    Job job{gpipe_of_two(), {1, 1, 1, 2}, GetParam()};
    job.patience = std::chrono::milliseconds(300);
    job.wrap = [&](Stage stage,
                   std::unique_ptr<StageRunner> inner) -> std::unique_ptr<StageRunner> {
        // Rank 1 comes back to life when rank 0 has given up and takes its stage down.
        struct Alarm {
            std::atomic<bool>& over;
            bool is_set;
            ~Alarm() {
                if (!is_set) return;
                over = true;
                over.notify_all();
            }
        };
        auto alarm = std::make_shared<Alarm>(over, stage.index == 0);
        return std::make_unique<Disturbed>(std::move(inner), [&over, alarm, stage](const auto&) {
            if (stage.index == 1) over.wait(false);
        });
    };
    try {
        fake::run(job);
        FAIL() << "the run ends";
    } catch (const DeadlinePassed& error) {
        EXPECT_THAT(error.what(),
                    MatchesRegex("rank 0 waited [.0-9]+ s for 0RECV_B. from rank 1: .*"));
        EXPECT_THAT(error.what(), HasSubstr("rank 1 has not reached it"));
    }
}

INSTANTIATE_TEST_SUITE_P(Transports, EveryTransport,
                         testing::Values(Transport::Buffered, Transport::Own));

}  // namespace
}  // namespace debubble::exec
