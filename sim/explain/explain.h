#pragma once

#include "scenarios/plan/scenario.h"
#include "schedule/schedule.h"
#include "sim/engine/cost_model.h"
#include "sim/plan/prediction.h"

namespace debubble::sim {

/// Adds what a person should know of a prediction besides its figures: notes, and where every
/// constant comes from. The costs are those of
/// even loads.
void explain(Prediction& out, const scenarios::Scenario& scenario, const Program& program,
             const CostModel& costs);

}  // namespace debubble::sim
