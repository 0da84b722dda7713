#pragma once

#include "scenarios/plan/scenario.h"
#include "sim/predict.h"

namespace debubble::sim {

/// The bytes of the optimizer's moments that a rank holds at its peak and has not made yet at that
/// moment of the first step. None where the peak is the optimizer's own.
Bytes moments_made_later(const RankPrediction& rank, const scenarios::Scenario& scenario);

}  // namespace debubble::sim
