#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "sim/plan/drawn_loads.h"
#include "sim/plan/prediction.h"
#include "sim/plan/priced_plan.h"

namespace debubble::sim {

/// A plan whose step has been played: what its allocators are played from. The parts refer to each
/// other and to the scenario, so it is not moved.
struct StepToAllocate {
    explicit StepToAllocate(const scenarios::Scenario& of) : scenario(of) {}
    StepToAllocate(const StepToAllocate&) = delete;
    StepToAllocate& operator=(const StepToAllocate&) = delete;

    scenarios::Scenario scenario;
    std::unique_ptr<const PricedPlan> priced;
    std::optional<LoadsOfStep> loads;
    std::unique_ptr<const LoadedMemory> loaded;
    std::vector<std::vector<ActionTimes>> times;
};

/// Fills in what the allocator of every rank reserves, and whether the plan fits. With
/// `only_where_it_decides` it leaves them out where the requested memory says it already.
void play_allocators(Prediction& out, const StepToAllocate& step, bool only_where_it_decides,
                     const std::stop_token& stop);

}  // namespace debubble::sim
