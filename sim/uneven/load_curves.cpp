#include "sim/uneven/load_curves.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/overloaded.h"
#include "sim/cost/physical_models.h"

namespace debubble::sim {
namespace {

using scenarios::Scenario;

constexpr std::size_t kMostPrices = 8;
constexpr std::int64_t kShortestPriced = 64;  ///< tokens of a document

/// Loads at which passes are priced. Kernels come in whole waves and tiles, so two points are not
/// enough.
std::vector<double> priced_loads(const Scenario& scenario) {
    const double mean = scenario.training.expert_load;
    std::vector<double> loads = scenario.imbalance.router_loads;
    std::ranges::sort(loads);
    loads.erase(std::ranges::unique(loads).begin(), loads.end());
    if (loads.size() > kMostPrices) {
        std::vector<double> some;
        for (std::size_t i = 0; i < kMostPrices; ++i)
            some.push_back(loads[i * (loads.size() - 1) / (kMostPrices - 1)]);
        loads = std::move(some);
    }
    if (loads.empty())
        for (const double deviations : {-1.0, 1.0, 2.0, 4.0, 8.0})
            loads.push_back(
                std::max(1.0, mean * (1 + deviations * scenario.imbalance.router_spread)));
    if (scenario.imbalance.even_load) loads.push_back(*scenario.imbalance.even_load);
    std::ranges::sort(loads);
    loads.erase(std::ranges::unique(loads).begin(), loads.end());
    std::erase(loads, mean);
    return loads;
}

/// Numbers of equal documents in a sequence at which passes are priced: powers of two, as long as
/// ranks can cut them.
std::vector<int> priced_documents(const Scenario& scenario) {
    const scenarios::Parallel& parallel = scenario.parallel;
    const std::int64_t pieces =
        std::int64_t{2} * parallel.context * (parallel.sequence ? parallel.tensor : 1);
    const std::int64_t length = scenario.training.seq_length;
    std::vector<int> counts;
    for (int count = 2; length % (count * pieces) == 0 && length / count >= kShortestPriced &&
                        counts.size() + 1 < kMostPrices;
         count *= 2)
        counts.push_back(count);
    return counts;
}

std::vector<std::vector<int>> routed_layers(const Scenario& scenario,
                                            const std::vector<models::StageContent>& stages) {
    std::vector<std::vector<int>> all;
    for (const models::StageContent& stage : stages) {
        std::vector<int>& layers = all.emplace_back();
        const int end =
            stage.first_layer + stage.layers + stage.prediction_layers(scenario.model.mtp_layers);
        for (int layer = stage.first_layer; layer < end; ++layer)
            if (scenario.model.layer_at(layer).as<models::Experts>() != nullptr)
                layers.push_back(layer);
    }
    return all;
}

ComputeCost cost_of(const CostModel& costs, const Work& work, Rank rank) {
    return std::visit(Overloaded{[&](const Compute& c) { return costs.compute(c, rank); },
                                 [&](const Recompute& r) { return costs.recompute(r, rank); },
                                 [&](const Overlap& o) { return costs.overlap(o, rank); }},
                      work);
}

void for_each_work(const Program& program, const auto& visit) {
    for (int rank = 0; rank < program.shape.ranks; ++rank)
        for (const Action& action : program.ranks[rank])
            std::visit(
                [&](const auto& a) {
                    if constexpr (std::is_constructible_v<Work, decltype(a)>)
                        visit(without_micro_batches(a), Rank{rank});
                },
                action);
}

double bytes_of(const ComputeCost& cost) {
    double bytes = 0;
    for (const InnerFlow& flow : cost.flows) bytes += static_cast<double>(flow.bytes.count);
    return bytes;
}

/// The cost at a load, by linear interpolation of the two prices around it.
CostChange absolute_at(const Curve& curve, double load) {
    const auto of = [](const ComputeCost& cost) {
        return CostChange{seconds(cost.duration), seconds(cost.exposed), seconds(cost.host),
                          bytes_of(cost)};
    };
    if (curve.size() == 1) return of(curve.front().cost);
    const auto above = std::ranges::lower_bound(curve, load, {}, &CostAt::load);
    const auto right = std::clamp(above, curve.begin() + 1, curve.end() - 1) - curve.begin();
    const CostAt& a = curve[right - 1];
    const CostAt& b = curve[right];
    const double share = (load - a.load) / (b.load - a.load);
    CostChange at;
    at.add(of(a.cost), 1 - share);
    at.add(of(b.cost), share);
    return at;
}

}  // namespace

Work without_micro_batches(Work work) {
    std::visit(Overloaded{[](Overlap& o) {
                              o.first.micro_batch.index = 0;
                              o.second.micro_batch.index = 0;
                          },
                          [](auto& c) { c.micro_batch.index = 0; }},
               work);
    return work;
}

CostChange& CostChange::add(const CostChange& more, double times) {
    duration += times * more.duration;
    exposed += times * more.exposed;
    host += times * more.host;
    bytes += times * more.bytes;
    return *this;
}

CostChange change_at(const Curve& curve, double load, double even) {
    if (load == even) return {};
    const CostChange before = absolute_at(curve, even);
    CostChange change = absolute_at(curve, load);
    change.add(before, -1);
    change.bytes = before.bytes > 0 ? change.bytes / before.bytes : 0;
    return change;
}

LoadCurves::LoadCurves(const Scenario& scenario, const std::vector<models::StageContent>& stages,
                       const Schedule& schedule, const Program& program, const CostModel& even)
    : scenario_(scenario), even_(even), routed_(routed_layers(scenario, stages)) {
    if (scenario.imbalance.draws_routers()) {
        price(by_expert_load_, program, scenario.training.expert_load, even);
        for (const double load : priced_loads(scenario)) {
            Scenario loaded = scenario;
            loaded.training.expert_load = load;
            price(by_expert_load_, program, load, *make_cost_model(loaded, stages, schedule));
        }
    }
    if (scenario.imbalance.documents) {
        price(by_attended_, program, 1, even);
        for (const int count : priced_documents(scenario)) {
            Scenario packed = scenario;
            packed.training.seq_length /= count;
            packed.training.micro_batch *= count;
            price(by_attended_, program, 1.0 / count, *make_cost_model(packed, stages, schedule));
        }
    }
}

void LoadCurves::price(Curves& curves, const Program& program, double load,
                       const CostModel& costs) const {
    for_each_work(program, [&](const Work& work, Rank rank) {
        Curve& curve = curves[{work, rank}];
        const auto place = std::ranges::lower_bound(curve, load, {}, &CostAt::load);
        if (place == curve.end() || place->load != load)
            curve.insert(place, {load, cost_of(costs, work, rank)});
    });
}

const Curve* LoadCurves::by_expert_load(const Work& work, Rank rank) const {
    if (by_expert_load_.empty()) return nullptr;
    return &by_expert_load_.at({without_micro_batches(work), rank});
}

const Curve* LoadCurves::by_attended(const Work& work, Rank rank) const {
    if (by_attended_.empty()) return nullptr;
    return &by_attended_.at({without_micro_batches(work), rank});
}

}  // namespace debubble::sim
