#include "sim/uneven/uneven_steps.h"

#include <algorithm>
#include <cmath>

#include "base/overloaded.h"
#include "scenarios/plan/packing.h"

namespace debubble::sim {
namespace {

/// The computes of a work; a Recompute is a forward.
void for_each_pass(const Work& work, const auto& visit) {
    std::visit(Overloaded{[&](const Compute& c) { visit(c); },
                          [&](const Recompute& r) {
                              visit(Compute{Pass::Forward, r.stage, r.micro_batch});
                          },
                          [&](const Overlap& o) {
                              visit(o.first);
                              visit(o.second);
                          }},
               work);
}

Compute first_of(const Work& work) {
    std::optional<Compute> first;
    for_each_pass(work, [&](const Compute& c) { first = first.value_or(c); });
    return *first;
}

/// The change due to all loads of a work: each is the load of an equal part of it.
CostChange mean_change(const Curve& curve, const std::vector<double>& loads, double even) {
    CostChange sum;
    for (const double load : loads)
        sum.add(change_at(curve, load, even), 1 / static_cast<double>(loads.size()));
    return sum;
}

Duration changed(Duration time, double by) {
    return std::max(Duration{}, time + from_seconds(by));
}

void apply(ComputeCost& cost, const CostChange& change) {
    cost.duration = changed(cost.duration, change.duration);
    cost.exposed = std::min(cost.duration, changed(cost.exposed, change.exposed));
    cost.host = std::min(cost.duration, changed(cost.host, change.host));
    if (change.bytes == 0) return;
    for (InnerFlow& flow : cost.flows) {
        const double bytes = static_cast<double>(flow.bytes.count) * (1 + change.bytes);
        if (flow.bytes.count > 0) flow.bytes = {std::max<std::int64_t>(1, std::llround(bytes))};
    }
}

}  // namespace

ComputeCost UnevenCostModel::drawn(ComputeCost cost, const Work& work, Rank rank) const {
    const auto* step = std::get_if<DrawnLoads>(&loads_);
    const auto* even = std::get_if<EvenLoads>(&loads_);
    if (const Curve* curve = step || even->experts ? curves_.by_expert_load(work, rank) : nullptr) {
        std::vector<double> loads;
        for_each_pass(work, [&](const Compute& c) {
            for (const int layer : curves_.routed(c.stage))
                loads.push_back(step ? step->draw.load(layer, c.micro_batch.index)
                                     : *even->experts);
        });
        apply(cost, mean_change(*curve, loads, curves_.scenario().training.expert_load));
    }
    if (const Curve* curve = curves_.by_attended(work, rank)) {
        std::vector<double> shares;
        for_each_pass(work, [&](const Compute& c) {
            shares.push_back(step ? step->draw.attended(c.micro_batch.index) : even->attended);
        });
        apply(cost, mean_change(*curve, shares, 1));
    }
    if (!step) return cost;
    const double factor = slow_down(rank) * step->draw.jitter(rank, first_of(work), work.index());
    if (factor == 1) return cost;
    const Duration own = cost.duration - cost.exposed;
    cost.duration = cost.exposed + from_seconds(factor * seconds(own));
    cost.host = std::min(cost.duration, from_seconds(factor * seconds(cost.host)));
    return cost;
}

double UnevenCostModel::slow_down(Rank rank) const {
    const auto* step = std::get_if<DrawnLoads>(&loads_);
    if (!step) return 1;
    const auto& ranks = curves_.scenario().imbalance.ranks;
    const auto found = ranks.find(rank.index);
    return found == ranks.end() || rank == step->spared ? 1 : found->second;
}

Duration UnevenCostModel::optimizer_step(Rank rank) const {
    const double factor = slow_down(rank);
    const Duration even = beside().optimizer_step(rank);
    return factor == 1 ? even : from_seconds(factor * seconds(even));
}

EvenCosts::EvenCosts(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
                     const CostModel& whole)
    : whole_(whole) {
    if (!scenario.imbalance.documents || scenarios::packs_in_step(scenario)) return;
    attended_ = mean_attended(scenario);
    of_documents_ = scenario;
    of_documents_->imbalance = {};
    of_documents_->imbalance.documents = scenario.imbalance.documents;
    curves_.emplace(*of_documents_, plan.stages, plan.schedule, plan.program, whole);
    documents_.emplace(*curves_, EvenLoads{attended_});
}

}  // namespace debubble::sim
