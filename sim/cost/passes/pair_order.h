#pragma once

#include <vector>

#include "sim/cost/passes/pair_lanes.h"
#include "sim/cost/passes/pair_layers.h"
#include "trace/trace.h"

/// The order in which the parts of a pair's layers are issued (pair_layers.h), and what comes of it
/// on the host's lane and two streams (pair_lanes.h).
namespace debubble::sim {

/// The parts that take time, in the order of their issue.
PlayedPair played(const std::vector<LayerParts>& forward, const std::vector<LayerParts>& backward,
                  const PairLanes& lanes = {});

/// The whole of a pair that begins at 0 and takes `duration`: what comes before the layers, the
/// layers, and what comes after them, stretched to it. Layers are numbered from 0 in each
/// pass, and exchanges do not wait for other ranks.
std::vector<PairPart> parts_of_pair(const Overlap& pair, const PairParts& forward,
                                    const PairParts& backward, const PairLanes& lanes,
                                    Duration duration);

}  // namespace debubble::sim
