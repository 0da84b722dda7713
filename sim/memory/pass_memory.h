#pragma once

#include "models/graph.h"
#include "sim/memory/layer_fold.h"
#include "sim/memory/memory_model.h"
#include "sim/memory/sharded_units.h"

namespace debubble::sim {

/// Plays the allocations and frees of a pass, the folded layer as often as it stands for: the
/// levels are those of the unfolded pass. A forward that runs `again` finds the tensors that its
/// first run has left for later slices. `held` counts towards the peak.
PassMemory play(const models::StageGraph& graph, const models::PassSteps& pass, LayerFold fold = {},
                bool again = false, const HeldByPlace& held = {});

}  // namespace debubble::sim
