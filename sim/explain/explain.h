#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "schedule/schedule.h"
#include "sim/engine/cost_model.h"
#include "sim/plan/prediction.h"

namespace debubble::sim {

/// Adds notes and the sources of all constants to a prediction. The costs are those of even loads.
void explain(Prediction& out, const scenarios::Scenario& scenario, const Program& program,
             const CostModel& costs);

/// Adds the range of measured steps of similar plans, and whether the fullest rank's memory fits
/// into its device: by the prediction itself (`fits`), and by the range of published peaks of
/// similar plans (`memory_verdict`). Precondition: step time, ranks and headroom are known.
void add_ranges(Prediction& out, const scenarios::Scenario& scenario);

/// True if such a peak fits, or lies within the range of peaks that do.
bool may_fit(Bytes needs, const scenarios::Scenario& scenario);

/// The parts of a scenario that no measured training step covers, in words: the constants of its
/// machine, its schedule, the host of its framework.
std::vector<std::string> unvalidated_features(const scenarios::Scenario& scenario);

/// True if a prediction of the scenario depends on this constant of its cluster (a dotted key). For
/// example, constants of the network between nodes are not read if all GPUs are in one node.
bool is_read(const scenarios::Scenario& scenario, std::string_view constant);
/// The same for a constant that all clusters share (models/execution/laws.h), by its name.
bool reads_law(const scenarios::Scenario& scenario, std::string_view constant);

}  // namespace debubble::sim
