#pragma once

#include <vector>

#include "base/units.h"
#include "scenarios/plan/scenario.h"

namespace debubble::sim {

/// A lower bound of the time and memory of a plan, however it is played.
struct PlanBound {
    /// A rank works for as long as its computes last, one after the other. If the optimizer is
    /// synchronised, the step also contains the way of the first microbatch down to that rank and
    /// of the last gradient back up, and the optimizer's own time.
    double step_time_s = 0;
    Bytes memory;  ///< memory that the worst rank holds at the optimizer's step
    Bytes limit;   ///< memory of one device without the headroom
    bool fits() const { return memory <= limit; }
};

/// By this share of it a bound may exceed a prediction: both add the same numbers in another order.
inline constexpr double kRoundingOfBound = 1e-9;

/// Costs a small part of predict(). Where parallel.partition: balanced has not been chosen, it is a
/// bound of both cuts. Throws what predict() throws for a plan that cannot be built.
PlanBound bound_of(const scenarios::Scenario& scenario);

/// The scenario with each of the cuts that `parallel.partition: balanced` chooses from: the uniform
/// one, and the one whose busiest rank works for the shortest time by the prices of its passes
/// (sim/cost/schedule_prices.h), unless that is the uniform one. Throws what make_plan() throws.
std::vector<scenarios::Scenario> cuts_to_choose_from(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
