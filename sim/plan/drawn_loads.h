#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "sim/engine/simulate.h"
#include "sim/plan/priced_plan.h"
#include "sim/uneven/drawn_memory.h"
#include "sim/uneven/packed_steps.h"
#include "sim/uneven/uneven_steps.h"

/// The costs and the memory of a priced plan whose loads are drawn, or even.
namespace debubble::sim {

/// The step in the middle of those that were drawn, and all of them; or the step of even loads.
struct DrawnLoads {
    std::unique_ptr<const PackedSteps> packed;  ///< null unless steps pack their documents
    std::unique_ptr<const EvenCosts> of_even;
    std::unique_ptr<const LoadCurves> curves;
    std::unique_ptr<const CostModel> of_curves;
    std::unique_ptr<const CostModel> of_even_routers;  ///< null where that is `of_even`
    const CostModel* costs = nullptr;                  ///< of the step
    const CostModel* even = nullptr;   ///< of the same step with even loads; null if it is that
    const Program* program = nullptr;  ///< of that step
    double attended = 1;               ///< pairs of tokens, relative to sequences of one document
    std::optional<UnevenSteps> steps;
};

/// All of these keep references to their arguments.
DrawnLoads even_loads(const scenarios::Scenario& scenario, const PricedPlan& priced);
DrawnLoads draw_loads(const scenarios::Scenario& scenario, const PricedPlan& priced,
                      const SimulateOptions& how);

/// The times of a step in which all layers and microbatches have the mean of the drawn loads, and
/// what its ranks hold with the loads that are drawn.
struct LoadedMemory {
    std::vector<std::vector<ActionTimes>> times;
    std::optional<DrawnMemory> drawn;
};

/// Null where routers do not differ.
std::unique_ptr<const LoadedMemory> draw_memory(const scenarios::Scenario& scenario,
                                                const PricedPlan& priced, const CostModel& mean,
                                                SimulateOptions how);

}  // namespace debubble::sim
