#include <map>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "schedule/validate.h"
#include "sim/engine/simulate.h"
#include "tests/sim/engine/random_plans.h"

/// Replicas that are alike are folded: one pipeline stands for all of them. Here every rank of
/// every replica is played, and each must do what the one pipeline does, to the nanosecond.
namespace debubble::sim {
namespace {

/// The action of another replica, which has microbatches and ranks of its own.
Action moved(const Action& action, int micro_batches, int ranks) {
    Action own = action;
    const auto move = [&](MicroBatch& micro_batch) { micro_batch.index += micro_batches; };
    if (auto* compute = std::get_if<Compute>(&own)) move(compute->micro_batch);
    if (auto* pair = std::get_if<Overlap>(&own)) {
        move(pair->first.micro_batch);
        move(pair->second.micro_batch);
    }
    if (auto* send = std::get_if<Send>(&own)) {
        move(send->message.micro_batch);
        send->to.index += ranks;
    }
    if (auto* receive = std::get_if<Recv>(&own)) {
        move(receive->message.micro_batch);
        receive->from.index += ranks;
    }
    return own;
}

/// The ranks of all replicas in one program, replica by replica. A stage has a holder in each.
Program unfolded(const Program& pipeline, int replicas) {
    Program all = pipeline;
    all.shape.ranks *= replicas;
    all.shape.micro_batches *= replicas;
    for (int replica = 1; replica < replicas; ++replica) {
        for (const ActionList& list : pipeline.ranks) {
            ActionList& own = all.ranks.emplace_back();
            for (const Action& action : list)
                own.push_back(moved(action, replica * pipeline.shape.micro_batches,
                                    replica * pipeline.shape.ranks));
        }
        for (const auto& stages : pipeline.placement.stages) all.placement.stages.push_back(stages);
    }
    return all;
}

/// Costs that differ by stage, pass and microbatch, and are those of the first replica in all of
/// them. A collective takes what it takes for the whole job, however many of its ranks are played.
class JobCosts final : public CostModel {
public:
    JobCosts(int micro_batches, std::uint64_t seed) : micro_batches_(micro_batches), seed_(seed) {}

    bool per_micro_batch() const override { return true; }
    ComputeCost compute(const Compute& c, Rank) const override {
        ComputeCost cost;
        cost.duration = some(static_cast<int>(c.pass), c.stage.index,
                             c.micro_batch.index % micro_batches_, 1'000'000);
        return cost;
    }
    Flow transfer(const Message& message, Rank, Rank) const override {
        return of(some(10, message.producer.index, 0, 200'000));
    }
    Flow unshard(Stage stage, Rank) const override { return of(some(11, stage.index, 0, 900'000)); }
    Flow reduce_grad(Stage stage, std::span<const Rank>) const override {
        return of(some(12, stage.index, 0, 900'000));
    }
    Flow grad_norm() const override { return of(some(13, 0, 0, 100'000)); }
    Duration optimizer_step(Rank) const override { return some(14, 0, 0, 500'000); }

private:
    static Flow of(Duration latency) {
        Flow flow;
        flow.latency = latency;
        return flow;
    }
    Duration some(int what, int stage, int micro_batch, int most) const {
        Dice dice(seed_ ^ static_cast<std::uint64_t>((what * 4099 + stage) * 4099 + micro_batch));
        return Duration{1 + dice.roll(most)};
    }

    int micro_batches_;
    std::uint64_t seed_;
};

/// By rank and action, the nanoseconds of its begin and end.
using Times = std::map<std::pair<int, std::string>, std::pair<std::int64_t, std::int64_t>>;

/// When each rank of a replica does what, by the words of the first replica.
Times times_of(const Simulation& played, const PipelineShape& pipeline, int replica) {
    Times times;
    for (const Span& span : played.trace.spans) {
        if (span.rank.index / pipeline.ranks != replica) continue;
        const Action first =
            moved(span.action, -replica * pipeline.micro_batches, -replica * pipeline.ranks);
        times[{span.rank.index % pipeline.ranks, to_text(first)}] = {
            span.begin.time_since_epoch().count(), span.end.time_since_epoch().count()};
    }
    return times;
}

/// The earliest thing that is done at another time; empty if there is none.
std::string first_difference(const Times& played, const Times& expected) {
    std::string words;
    std::int64_t earliest = 0;
    for (const auto& [action, times] : expected) {
        const auto at = played.find(action);
        if (at != played.end() && at->second == times) continue;
        if (!words.empty() && times.first >= earliest) continue;
        earliest = times.first;
        words = fmt::format("rank {} {}: {} to {} ns instead of {} to {}", action.first,
                            action.second, at == played.end() ? -1 : at->second.first,
                            at == played.end() ? -1 : at->second.second, times.first, times.second);
    }
    return words;
}

struct Job {
    std::string name;
    PipelineShape shape;
    LowerOptions options;
    int replicas = 2;
    std::uint64_t seed = 0;
};

Job drawn(Dice& dice) {
    const auto [name, chunks] = dice.one_of<std::pair<std::string, int>>({{"gpipe", 1},
                                                                          {"1f1b", 1},
                                                                          {"zb-h1", 1},
                                                                          {"interleaved-1f1b", 2},
                                                                          {"looped-bfs", 2},
                                                                          {"zb-v", 2},
                                                                          {"dualpipe-v", 2},
                                                                          {"combined-1f1b", 2}});
    Job job;
    job.name = name;
    const int ranks = dice.one_of<int>({2, 3, 4});
    job.shape = {ranks, chunks, ranks * (2 + dice.roll(2)), 1};
    job.options.data_parallel = true;
    // Under ZeRO-2 and 3 holders of a stage wait for its reductions, and one holder does not.
    job.options.zero_stage = dice.roll(2);
    job.replicas = 2 + dice.roll(4);
    job.seed = dice.next();
    return job;
}

TEST(FoldedReplicas, DoWhatEachOfThemDoes) {
    Dice dice(2311);
    for (int k = 0; k < 60; ++k) {
        const Job job = drawn(dice);
        SCOPED_TRACE(fmt::format("{}: {} of {} ranks, {} microbatches, {} replicas, ZeRO-{}", k,
                                 job.name, job.shape.ranks, job.shape.micro_batches, job.replicas,
                                 job.options.zero_stage));
        const Program pipeline = lower(generate(job.name, job.shape), job.options);
        const Program all = unfolded(pipeline, job.replicas);
        ASSERT_TRUE(validate(all).empty());
        const JobCosts costs(job.shape.micro_batches, job.seed);
        const Simulation one = simulate(pipeline, costs);
        const Simulation every = simulate(all, costs);
        EXPECT_EQ(one.trace.spans.size() * static_cast<std::size_t>(job.replicas),
                  every.trace.spans.size());
        for (int replica = 0; replica < job.replicas; ++replica)
            ASSERT_EQ(
                first_difference(times_of(every, job.shape, replica), times_of(one, job.shape, 0)),
                "")
                << "replica " << replica;
    }
}

LowerOptions with_zero_1() {
    LowerOptions options;
    options.data_parallel = true;
    options.zero_stage = 1;
    return options;
}

/// Twice as many replicas are twice as many events.
TEST(FoldedReplicas, CostAsMuchForEachThatIsPlayed) {
    const Program pipeline = lower(generate("1f1b", {8, 1, 4, 1}), with_zero_1());
    const auto events = [&](int replicas) {
        return simulate(unfolded(pipeline, replicas), JobCosts(4, 1),
                        {.follow_memory = false, .record_spans = false})
            .events;
    };
    EXPECT_EQ(events(64) - events(32), events(96) - events(64));
    EXPECT_LE(events(64), 2 * events(32));
}

/// 16 stages by 1,024 replicas, each rank by itself (docs/benchmarks.md has the time).
TEST(FoldedReplicas, ArePlayedByTheThousand) {
    const Program pipeline = lower(generate("1f1b", {16, 1, 4, 1}), with_zero_1());
    const JobCosts costs(4, 1);
    const SimulateOptions ends_alone{.follow_memory = false, .record_spans = false};
    EXPECT_EQ(simulate(unfolded(pipeline, 1024), costs, ends_alone).step_ends,
              simulate(pipeline, costs, ends_alone).step_ends);
}

}  // namespace
}  // namespace debubble::sim
