#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "scenarios/plan/plan.h"
#include "sim/engine/cost_model.h"
#include "sim/engine/simulate.h"
#include "sim/uneven/delegating_cost_model.h"
#include "sim/uneven/draw.h"
#include "sim/uneven/load_curves.h"
#include "sim/uneven/uneven_figures.h"
#include "trace/statistics.h"

/// Steps with drawn loads: their costs and their simulation.
namespace debubble::sim {

/// The loads of a step whose microbatches and layers all have the same.
struct EvenLoads {
    /// Pairs of tokens in the causal mask, relative to sequences that are one document each.
    double attended = 1;
    std::optional<double> experts = {};  ///< unset: that of the scenario
};

/// The costs of one drawn step: those of the even load, changed by the loads drawn for the
/// microbatch's layers and sequences, times the rank's slowdown and the jitter. Exposed
/// communication takes as long on a slow rank; messages, gathers and reductions are unchanged.
class UnevenCostModel final : public DelegatingCostModel {
public:
    /// `curves` must outlive the model. `spared`, if set, is a rank that is not slowed down.
    UnevenCostModel(const LoadCurves& curves, DrawnPipeline pipeline,
                    std::optional<Rank> spared = {})
        : DelegatingCostModel(curves.even()),
          curves_(curves),
          loads_(DrawnLoads{Draw(curves.scenario(), pipeline), spared}) {}

    /// For a step whose loads are even.
    UnevenCostModel(const LoadCurves& curves, EvenLoads even)
        : DelegatingCostModel(curves.even()), curves_(curves), loads_(even) {}

    bool per_micro_batch() const override { return std::holds_alternative<DrawnLoads>(loads_); }
    ComputeCost compute(const Compute& action, Rank rank) const override {
        return drawn(beside().compute(action, rank), action, rank);
    }
    ComputeCost recompute(const Recompute& action, Rank rank) const override {
        return drawn(beside().recompute(action, rank), action, rank);
    }
    ComputeCost overlap(const Overlap& action, Rank rank) const override {
        return drawn(beside().overlap(action, rank), action, rank);
    }
    Duration optimizer_step(Rank rank) const override;

private:
    struct DrawnLoads {
        Draw draw;
        std::optional<Rank> spared;
    };
    ComputeCost drawn(ComputeCost cost, const Work& work, Rank rank) const;
    double slow_down(Rank rank) const;

    const LoadCurves& curves_;
    std::variant<EvenLoads, DrawnLoads> loads_;
};

/// The costs of a step whose work is the mean of all drawn steps and whose loads are even:
/// sequences have the mean share of pairs of tokens, experts the planned load, and no rank is slow.
class EvenCosts {
public:
    /// `whole` has the costs of sequences that are one document each, as a microbatch of the plan
    /// has, and must outlive this, like the scenario.
    EvenCosts(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
              const CostModel& whole);

    const CostModel& costs() const { return documents_ ? *documents_ : whole_; }
    double attended() const { return attended_; }

private:
    const CostModel& whole_;
    double attended_ = 1;
    std::optional<scenarios::Scenario> of_documents_;  ///< with nothing else that is drawn
    std::optional<LoadCurves> curves_;
    std::optional<UnevenCostModel> documents_;
};

/// The drawn step of this share from the shortest: nearest rank. Precondition: there are steps.
Duration quantile(std::vector<Duration> steps, double share);

/// Fills in the median and the 95th percentile of the drawn steps. Precondition: there are some.
void sum_up(UnevenSteps& steps);

/// Begins the list of slow ranks with the slowest, whose cost is not known yet.
void slowest_of(UnevenSteps& steps, const scenarios::Imbalance& imbalance);

/// Simulates every draw of the scenario's imbalance, on `jobs` threads (0: one per core), and a
/// step of the costs `even`. For the same scenario the result is the same for any number of
/// threads. Throws Cancelled soon after `how.stop`.
UnevenSteps play_draws(const LoadCurves& curves, const CostModel& even, const Program& program,
                       const SimulateOptions& how, int jobs = 0);

/// Gives the cause UnevenLoad to that part of a wait for another rank's compute which the same wait
/// lacks when the program is simulated with even loads.
void blame_uneven_loads(Statistics& statistics, const Trace& trace, const Statistics& even,
                        const Trace& even_trace);

}  // namespace debubble::sim
