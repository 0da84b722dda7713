#pragma once

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "sim/engine/simulate.h"
#include "sim/plan/priced_plan.h"
#include "sim/uneven/drawn_memory.h"
#include "sim/uneven/packed_steps.h"
#include "sim/uneven/uneven_steps.h"

/// The costs and the memory of a priced plan whose loads are drawn, or even.
namespace debubble::sim {

/// The steps that are drawn of a plan whose documents are packed before: by curves of its costs.
class DrawnSteps {
public:
    DrawnSteps(const scenarios::Scenario& scenario, const PricedPlan& priced,
               const SimulateOptions& how);

    const UnevenSteps& steps() const { return steps_; }
    /// Of the step in the middle, and of the same step with even loads.
    const CostModel& costs() const { return middle_; }
    const CostModel& even() const {
        return of_even_routers_ ? static_cast<const CostModel&>(*of_even_routers_) : mean_.costs();
    }
    /// Of a step that has the mean of all draws.
    const EvenCosts& mean() const { return mean_; }

private:
    EvenCosts mean_;
    LoadCurves curves_;
    std::optional<UnevenCostModel> of_even_routers_;  ///< unset where that is the mean
    UnevenSteps steps_;
    UnevenCostModel middle_;
};

/// The one step of a plan that is predicted, by how its loads are known: they are even, or drawn,
/// or each step draws its documents and packs them. All refer to the scenario and the priced plan.
class LoadsOfStep {
public:
    /// Even loads, although the scenario may draw them.
    LoadsOfStep(const scenarios::Scenario& scenario, const PricedPlan& priced);
    /// Drawn as the scenario's imbalance says.
    LoadsOfStep(const scenarios::Scenario& scenario, const PricedPlan& priced,
                const SimulateOptions& how);
    LoadsOfStep(const LoadsOfStep&) = delete;
    LoadsOfStep& operator=(const LoadsOfStep&) = delete;

    /// Of the step in the middle of those that are drawn.
    const CostModel& costs() const;
    const Program& program() const;
    /// Of the same step with even loads; null where it is that step.
    const CostModel* even() const;
    /// Of a step that has the mean of all draws, by whose times memory is followed.
    const CostModel& mean() const;
    /// Pairs of tokens that see each other, relative to sequences of one document.
    double attended() const;
    /// All that are drawn.
    std::optional<UnevenSteps> steps() const;
    /// True if each step has a program of its own.
    bool packs() const { return std::holds_alternative<PackedSteps>(known_); }

private:
    using Known = std::variant<EvenCosts, DrawnSteps, PackedSteps>;
    static Known drawn(const scenarios::Scenario& scenario, const PricedPlan& priced,
                       const SimulateOptions& how);

    const PricedPlan& priced_;
    Known known_;
};

/// The times of a step in which all layers and microbatches have the mean of the drawn loads, and
/// what its ranks hold with the loads that are drawn.
struct LoadedMemory {
    /// All references outlive it.
    LoadedMemory(const scenarios::Scenario& scenario, const PricedPlan& priced,
                 const CostModel& mean, const SimulateOptions& how);

    std::vector<std::vector<ActionTimes>> times;
    DrawnMemory drawn;
};

/// Null where routers do not differ.
std::unique_ptr<const LoadedMemory> draw_memory(const scenarios::Scenario& scenario,
                                                const PricedPlan& priced, const CostModel& mean,
                                                SimulateOptions how);

}  // namespace debubble::sim
