#pragma once

#include <cstdint>

#include "base/units.h"
#include "scenarios/plan/scenario.h"

namespace debubble::sim {

/// The time in which a rank casts `weights` weights of GEMMs in 8 or 4 bits, once per step: after
/// the step, or in the first microbatch's forward.
Duration weight_cast_time(const scenarios::Scenario& scenario, std::int64_t weights);

/// The time of one optimizer step over a rank's parameters. Offloaded state is stepped as in the
/// framework: by the node's processors (ZeRO-Offload, Ren et al. 2021), or by the GPU, through a
/// buffer that holds one slice at a time, with transfers in both directions at once.
Duration optimizer_time(const scenarios::Scenario& scenario, std::int64_t elements);

}  // namespace debubble::sim
