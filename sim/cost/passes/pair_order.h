#pragma once

#include <vector>

#include "sim/cost/passes/pair_lanes.h"
#include "sim/cost/passes/pair_layers.h"
#include "trace/trace.h"

/// The order in which the parts of a pair's layers are issued (pair_layers.h), and the resulting
/// times on the host's lane and two streams (pair_lanes.h).
namespace debubble::sim {

/// The parts that take time, in order of issue.
PlayedPair played(const std::vector<LayerParts>& forward, const std::vector<LayerParts>& backward,
                  const PairLanes& lanes = {});

/// The whole of a pair that begins at 0 and takes `duration`: the parts before the layers, the
/// layers, and the parts after them, scaled to it. Layers are numbered from 0 in each pass, and
/// all-to-alls do not wait for other ranks.
std::vector<PairPart> parts_of_pair(const Overlap& pair, const PairParts& forward,
                                    const PairParts& backward, const PairLanes& lanes,
                                    Duration duration);

}  // namespace debubble::sim
