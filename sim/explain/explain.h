#pragma once

#include "scenarios/plan/scenario.h"
#include "schedule/schedule.h"
#include "sim/engine/cost_model.h"
#include "sim/plan/prediction.h"

namespace debubble::sim {

/// Adds notes and the sources of all constants to a prediction. The costs are those of even loads.
void explain(Prediction& out, const scenarios::Scenario& scenario, const Program& program,
             const CostModel& costs);

}  // namespace debubble::sim
