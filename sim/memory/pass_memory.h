#pragma once

#include <string>

#include "base/memory_class.h"
#include "models/graph.h"
#include "sim/memory/layer_fold.h"
#include "sim/memory/sharded_units.h"

namespace debubble::sim {

/// What a pass holds of its stage's tensors, in exact bytes.
struct PassMemory {
    Bytes held_after;         ///< change from its beginning to its end
    Bytes peak_above;         ///< greatest level inside, above the beginning's
    MemoryByClass at_peak{};  ///< sums to peak_above
    MemoryByClass beside{};   ///< of that, what is gathered or not reduced yet (sharded_units.h)
    std::string op_at_peak;   ///< kernel for which the peak was allocated
};

/// Plays the allocations and frees of a pass, the folded layer as often as it
/// stands for: the levels are those of the unfolded pass. A forward that runs `again`
/// finds there what its first run has left for later slices. `beside` counts to the peak.
PassMemory play(const models::StageGraph& graph, const models::PassSteps& pass, LayerFold fold = {},
                bool again = false, const HeldBeside& beside = {});

}  // namespace debubble::sim
