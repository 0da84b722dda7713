#pragma once

#include "base/units.h"
#include "scenarios/scenario.h"

namespace debubble::sim {

/// What no way of playing a plan can go below.
struct PlanBound {
    /// A rank works for as long as its computes last, one after the other. If
    /// the optimizer is synchronised, the step also holds the way of the first
    /// microbatch down to that rank and of the last gradient back up, and the
    /// optimizer's own time.
    double step_time_s = 0;
    Bytes memory;  ///< of the worst rank: what it holds all the time
    Bytes limit;   ///< of one device, headroom taken off
    bool fits() const { return memory <= limit; }
};

/// Costs a small part of predict(). Throws what predict() throws for a plan
/// that cannot be built.
PlanBound bound_of(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
