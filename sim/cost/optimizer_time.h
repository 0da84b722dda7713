#pragma once

#include <cstdint>

#include "base/units.h"
#include "scenarios/scenario.h"

namespace debubble::sim {

/// One step of the optimizer over what a rank steps. Of offloaded state as the framework has it:
/// stepped by the node's processors (ZeRO-Offload, Ren et al. 2021), or by the GPU, through a
/// buffer of which it passes in slices, both ways at once.
Duration optimizer_time(const scenarios::Scenario& scenario, std::int64_t elements);

}  // namespace debubble::sim
