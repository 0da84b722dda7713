#pragma once

#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "models/graph/graph.h"
#include "scenarios/plan/scenario.h"
#include "schedule/schedule.h"
#include "sim/engine/cost_model.h"

/// The cost of a pass as a function of its load: priced at some loads, and linear between them.
namespace debubble::sim {

using Work = std::variant<Compute, Recompute, Overlap>;
/// The same with the microbatches cleared and the slices kept, on which the price depends.
Work without_micro_batches(Work work);

/// The load of a pass, and its cost there; at least one, sorted by load.
struct CostAt {
    double load = 1;
    ComputeCost cost;
};
using Curve = std::vector<CostAt>;

/// A time and its parts, relative to the even load's, in seconds, and the factor of bytes.
struct CostChange {
    double duration = 0;
    double exposed = 0;
    double host = 0;
    double bytes = 0;  ///< relative to those of the even load

    CostChange& add(const CostChange& more, double times);
};
/// The change of the cost when the load is `load` instead of `even`. Zero where they are equal;
/// extrapolated beyond the last prices.
CostChange change_at(const Curve& curve, double load, double even);

/// Curves of all work in a program. Immutable after construction: many threads may ask.
class LoadCurves {
public:
    /// `even` is the cost model of the scenario itself and must outlive the curves.
    LoadCurves(const scenarios::Scenario& scenario, const std::vector<models::StageContent>& stages,
               const Schedule& schedule, const Program& program, const CostModel& even);

    const CostModel& even() const { return even_; }
    const scenarios::Scenario& scenario() const { return scenario_; }
    /// Layers with experts of a stage, those of multi-token prediction too.
    const std::vector<int>& routed(Stage stage) const { return routed_[stage]; }
    /// By the load of experts; null where nothing is drawn or the stage has no experts.
    const Curve* by_expert_load(const Work& work, Rank rank) const;
    /// By the share of pairs of tokens in the causal mask.
    const Curve* by_attended(const Work& work, Rank rank) const;

private:
    using Curves = std::map<std::pair<Work, Rank>, Curve>;
    void price(Curves& curves, const Program& program, double load, const CostModel& costs) const;

    const scenarios::Scenario& scenario_;
    const CostModel& even_;
    IndexedBy<Stage, std::vector<int>> routed_;
    Curves by_expert_load_;
    Curves by_attended_;
};

}  // namespace debubble::sim
