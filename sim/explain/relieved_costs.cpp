#include "sim/explain/relieved_costs.h"

#include <algorithm>
#include <cmath>

#include "schedule/dependencies.h"

namespace debubble::sim {
namespace {

constexpr int kAgainKind = 4;  // after the four passes

Duration scaled_by(Duration time, double factor) {
    return Duration{std::llround(static_cast<double>(time.count()) * factor)};
}

/// A cost whose computes are scaled by a factor.
ComputeCost with_factor(ComputeCost cost, double factor) {
    cost.duration = scaled_by(cost.duration, factor);
    cost.exposed = std::min(cost.duration, scaled_by(cost.exposed, factor));
    cost.host = std::min(cost.duration - cost.exposed, scaled_by(cost.host, factor));
    return cost;
}

}  // namespace

ComputeCost RelievedCosts::relieved(ComputeCost cost, const TimeByKind& communication) const {
    double exposed = 0;
    double all = 0;
    double freed_exposed = 0;
    double freed = 0;
    for (std::size_t kind = 0; kind < kCommunicationKinds; ++kind) {
        const KindTime& time = communication[kind];
        exposed += time.exposed;
        all += time.seconds();
        if (!relief_.communication[kind]) continue;
        freed_exposed += time.exposed;
        freed += time.seconds();
    }
    if (exposed > 0 && freed_exposed > 0) {
        const Duration less = scaled_by(cost.exposed, freed_exposed / exposed);
        cost.exposed -= less;
        cost.duration -= less;
    }
    // Communication over shared links is not divided by kind.
    if (all > 0 && freed > 0)
        for (InnerFlow& flow : cost.flows)
            flow.bytes = Bytes{std::llround(static_cast<double>(flow.bytes.count) *
                                            std::max(0.0, 1 - freed / all))};
    if (relief_.host) {
        cost.duration -= cost.host;
        cost.host = {};
    }
    if (relief_.kernels != 1) {
        const Duration computing = cost.duration - cost.exposed - cost.host;
        cost.duration += scaled_by(computing, relief_.kernels) - computing;
    }
    return cost;
}

ComputeCost RelievedCosts::compute(const Compute& action, Rank rank) const {
    return relieved(beside().compute(action, rank), beside().communication(action));
}

ComputeCost RelievedCosts::recompute(const Recompute& action, Rank rank) const {
    return relieved(beside().recompute(action, rank), beside().communication(action));
}

ComputeCost RelievedCosts::overlap(const Overlap& action, Rank rank) const {
    TimeByKind both = beside().communication(action.first);
    add(both, beside().communication(action.second));
    return relieved(beside().overlap(action, rank), both);
}

Flow RelievedCosts::transfer(const Message& message, Rank from, Rank to) const {
    return frees(CommunicationKind::Pipeline) ? Flow{}
                                              : DelegatingCostModel::transfer(message, from, to);
}

Flow RelievedCosts::unshard(Stage stage, Rank rank) const {
    return frees(CommunicationKind::Data) ? Flow{} : DelegatingCostModel::unshard(stage, rank);
}

Flow RelievedCosts::reduce_grad(Stage stage, std::span<const Rank> holders) const {
    return frees(CommunicationKind::Data) ? Flow{}
                                          : DelegatingCostModel::reduce_grad(stage, holders);
}

HiddenPart RelievedCosts::unshard_hidden(Stage stage, Rank rank) const {
    return frees(CommunicationKind::Data) ? HiddenPart{}
                                          : DelegatingCostModel::unshard_hidden(stage, rank);
}

HiddenPart RelievedCosts::reduce_grad_hidden(Stage stage, std::span<const Rank> holders) const {
    return frees(CommunicationKind::Data) ? HiddenPart{}
                                          : DelegatingCostModel::reduce_grad_hidden(stage, holders);
}

Flow RelievedCosts::tied_grad(Stage stage, std::span<const Rank> holders) const {
    return frees(CommunicationKind::Pipeline) ? Flow{}
                                              : DelegatingCostModel::tied_grad(stage, holders);
}

Flow RelievedCosts::grad_norm() const {
    return frees(CommunicationKind::Data) ? Flow{} : DelegatingCostModel::grad_norm();
}

Flow RelievedCosts::offload(Stage stage, Rank rank) const {
    return frees(CommunicationKind::Host) ? Flow{} : DelegatingCostModel::offload(stage, rank);
}

Duration RelievedCosts::optimizer_step(Rank rank) const {
    return relief_.optimizer ? Duration{} : DelegatingCostModel::optimizer_step(rank);
}

Duration RelievedCosts::between_steps(Rank rank) const {
    return relief_.host ? Duration{} : DelegatingCostModel::between_steps(rank);
}

LevelledCosts::LevelledCosts(const CostModel& costs, const Program& program)
    : DelegatingCostModel(costs) {
    const auto note = [&](Kind kind, Stage stage, auto&& cost) {
        const auto [own, is_new] = own_.try_emplace({kind, stage});
        if (!is_new) return;
        own->second = seconds(cost().duration);
        Mean& mean = means_[kind];
        mean.seconds += own->second;
        ++mean.stages;
    };
    for (int r = 0; r < program.shape.ranks; ++r)
        for (const Action& action : program.ranks[r]) {
            for_each_compute(action, [&](const Compute& c) {
                note({static_cast<int>(c.pass), c.micro_batch.slice.value_or(0)}, c.stage,
                     [&] { return costs.compute(c, Rank{r}); });
            });
            if (const auto* again = std::get_if<Recompute>(&action))
                note({kAgainKind, again->micro_batch.slice.value_or(0)}, again->stage,
                     [&] { return costs.recompute(*again, Rank{r}); });
        }
}

double LevelledCosts::factor(Kind kind, Stage stage) const {
    const auto own = own_.find({kind, stage});
    if (own == own_.end() || own->second <= 0) return 1;
    const Mean& mean = means_.at(kind);
    return mean.seconds / mean.stages / own->second;
}

ComputeCost LevelledCosts::compute(const Compute& action, Rank rank) const {
    return with_factor(beside().compute(action, rank),
                       factor({static_cast<int>(action.pass), action.micro_batch.slice.value_or(0)},
                              action.stage));
}

ComputeCost LevelledCosts::recompute(const Recompute& action, Rank rank) const {
    return with_factor(beside().recompute(action, rank),
                       factor({kAgainKind, action.micro_batch.slice.value_or(0)}, action.stage));
}

/// A pair changes by as much as both of its passes one after the other would.
ComputeCost LevelledCosts::overlap(const Overlap& action, Rank rank) const {
    double now = 0;
    double levelled = 0;
    for (const Compute& pass : {action.first, action.second}) {
        now += seconds(beside().compute(pass, rank).duration);
        levelled += seconds(compute(pass, rank).duration);
    }
    return with_factor(beside().overlap(action, rank), now > 0 ? levelled / now : 1);
}

}  // namespace debubble::sim
