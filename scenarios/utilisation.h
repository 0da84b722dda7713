#pragma once

#include <optional>

#include "scenarios/scenario.h"

/// What a training makes of the peak rate of its devices.
namespace debubble::scenarios {

/// Of the whole job: no recompute, attention in full.
double model_flops_per_step(const Scenario& scenario);
/// What recompute adds, as a share of the model's FLOPs.
double recomputed_share(const Scenario& scenario);
/// Of one device of the cluster in the precision that is trained in; nothing if nobody has
/// stated it.
std::optional<double> peak_flops_per_s(const Scenario& scenario);

}  // namespace debubble::scenarios
