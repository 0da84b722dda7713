#include "sim/engine/replay_measured.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "sim/engine/cost_model.h"
#include "sim/engine/simulate.h"
#include "trace/span_graph.h"
#include "trace/statistics.h"
#include "trace/steps.h"

namespace debubble::sim {
namespace {

constexpr Rank kAllRanks{-1};

/// The durations that a trace measured, as costs.
class MeasuredCosts final : public CostModel {
public:
    MeasuredCosts(const Program& program, const Trace& trace);

    bool per_micro_batch() const override { return true; }
    ComputeCost compute(const Compute& c, Rank rank) const override { return cost_of(c, rank); }
    ComputeCost recompute(const Recompute& r, Rank rank) const override { return cost_of(r, rank); }
    ComputeCost overlap(const Overlap& o, Rank rank) const override { return cost_of(o, rank); }
    Flow transfer(const Message& message, Rank from, Rank to) const override {
        return flow_of({Recv{message, from}, to});
    }
    Flow unshard(Stage stage, Rank rank) const override { return flow_of({Unshard{stage}, rank}); }
    Flow reduce_grad(Stage stage, std::span<const Rank>) const override {
        return flow_of({ReduceGrad{stage}, kAllRanks});
    }
    Flow tied_grad(Stage, std::span<const Rank>) const override {
        return flow_of({TiedGradReduce{}, kAllRanks});
    }
    Flow grad_norm() const override { return flow_of({GradNorm{}, kAllRanks}); }
    Flow offload(Stage stage, Rank rank) const override {
        return flow_of({Offload{stage, {}}, rank});
    }
    Duration optimizer_step(Rank rank) const override {
        return cost_of(OptimizerStep{}, rank).duration;
    }
    Duration between_steps(Rank) const override { return between_steps_; }

private:
    struct Mean {
        Duration sum{};
        Duration exposed{};
        Bytes bytes;
        int count = 0;
    };
    using Key = std::pair<Action, Rank>;

    static Key key_of(const Action& action, Rank rank);
    ComputeCost cost_of(const Action& action, Rank rank) const;
    Flow flow_of(const Key& key) const;

    std::map<Key, Mean> means_;
    Duration between_steps_{};
};

/// The key of the actions that share one price. A message is priced at its receiver, where it
/// arrives; a reload is priced as an offload; a reduction has one price for all of its members.
MeasuredCosts::Key MeasuredCosts::key_of(const Action& action, Rank rank) {
    return std::visit(Overloaded{
                          [&](const Send& s) {
                              return Key{Recv{s.message, rank}, s.to};
                          },
                          [&](const Offload& o) {
                              return Key{Offload{o.stage, {}}, rank};
                          },
                          [&](const Reload& r) {
                              return Key{Offload{r.stage, {}}, rank};
                          },
                          [&](const ReduceGrad& r) {
                              return Key{r, kAllRanks};
                          },
                          [&](const TiedGradReduce&) {
                              return Key{TiedGradReduce{}, kAllRanks};
                          },
                          [&](const GradNorm& n) {
                              return Key{n, kAllRanks};
                          },
                          [&](const auto& other) {
                              return Key{other, rank};
                          },
                      },
                      action);
}

/// Without a barrier at the optimizer the next step begins before this one has ended.
bool is_post_validated(const Program& program) {
    const ActionList& list = program.ranks.front();
    const auto step = std::ranges::find(list, Action{OptimizerStep{}});
    return std::find(step, list.end(), Action{GradNorm{}}) != list.end();
}

MeasuredCosts::MeasuredCosts(const Program& program, const Trace& trace) {
    const Trace step = median_step(trace);
    const SpanGraph graph(step);
    const std::vector<Duration> lengths = net_lengths(graph);
    std::map<Rank, std::int32_t> replica;
    const Statistics of_step = statistics(step);
    for (const RankStatistics& rank : of_step.ranks) replica[rank.rank] = rank.replica;
    if (!is_post_validated(program))
        between_steps_ =
            std::max(Duration{}, step.header.step_time.value_or(of_step.step) - of_step.step);
    for (std::size_t i = 0; i < step.spans.size(); ++i) {
        const Span& span = step.spans[i];
        if (replica[span.rank] != span.replica || std::holds_alternative<Send>(span.action))
            continue;
        Mean& mean = means_[key_of(span.action, span.rank)];
        mean.sum += lengths[i];
        mean.exposed += span.exposed;
        mean.bytes += span.bytes;
        ++mean.count;
    }
    for (int rank = 0; rank < static_cast<int>(program.ranks.size()); ++rank)
        for (const Action& action : program.ranks[rank])
            if (!means_.contains(key_of(action, Rank{rank})))
                throw InputError(
                    fmt::format("the run's trace holds no {} of rank {}, which its program lists",
                                to_text(action), rank));
}

ComputeCost MeasuredCosts::cost_of(const Action& action, Rank rank) const {
    const Mean& mean = means_.at(key_of(action, rank));
    ComputeCost cost;
    cost.duration = mean.sum / mean.count;
    cost.exposed = mean.exposed / mean.count;
    return cost;
}

Flow MeasuredCosts::flow_of(const Key& key) const {
    const Mean& mean = means_.at(key);
    Flow flow;
    flow.latency = mean.sum / mean.count;
    flow.payload = Bytes{mean.bytes.count / mean.count};
    return flow;
}

}  // namespace

Trace replay_measured(const Program& program, const Trace& measured) {
    SimulateOptions how;
    how.header = {.source = TraceSource::Replayed,
                  .scenario = measured.header.scenario,
                  .transport = measured.header.transport,
                  .sends_block = measured.header.sends_block,
                  .copies_block = measured.header.copies_block,
                  .reductions_block = measured.header.reductions_block};
    how.follow_memory = false;
    how.steps = is_post_validated(program) ? 2 : 1;
    return simulate(program, MeasuredCosts(program, measured), how).trace;
}

}  // namespace debubble::sim
