#pragma once

#include <vector>

#include "models/graph/graph.h"
#include "sim/memory/layer_fold.h"
#include "sim/memory/memory_model.h"
#include "sim/memory/sharded_units.h"

namespace debubble::sim {

/// Plays the allocations and frees of a pass, the folded layer as often as it stands for: the
/// levels are those of the unfolded pass. A forward that runs `again` finds the tensors that its
/// first run has left for later slices. `held` counts towards the peak. `bytes` are those of the
/// tensors, where they are not the graph's; null: they are.
PassMemory play(const models::StageGraph& graph, const models::PassSteps& pass, LayerFold fold = {},
                bool again = false, const HeldByPlace& held = {},
                const std::vector<Bytes>* bytes = nullptr);

/// The bytes that an allocation of a tensor of `bytes` adds: sums over the slices are allocated for
/// all of them at once.
Bytes added_by(const models::StageGraph& graph, const models::Tensor& tensor, Bytes bytes,
               bool again);

/// What two passes hold that run at the same time: parameters that one pass has gathered are gone
/// when the other gathers.
Bytes peak_at_once(const PassMemory& first, const PassMemory& second);
PassMemory at_once(const PassMemory& first, const PassMemory& second);

}  // namespace debubble::sim
