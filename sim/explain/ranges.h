#pragma once

#include "scenarios/plan/scenario.h"
#include "sim/plan/prediction.h"

namespace debubble::sim {

/// Adds the range of measured steps of similar plans, and whether the fullest rank's memory fits
/// into its device: by the prediction itself (`fits`), and by the range of published peaks of
/// similar plans (`memory_verdict`). Precondition: step time, ranks and headroom are known.
void add_ranges(Prediction& out, const scenarios::Scenario& scenario);

/// True if such a peak fits, or lies within the range of peaks that do.
bool may_fit(Bytes needs, const scenarios::Scenario& scenario);

}  // namespace debubble::sim
