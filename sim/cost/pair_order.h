#pragma once

#include <vector>

#include "sim/cost/pair_layers.h"
#include "trace/trace.h"

/// The order in which two streams run the parts of a pair's layers (pair_layers.h).
namespace debubble::sim {

/// A part of one of the two passes, in seconds from the beginning of the layers.
struct PlacedPart {
    PairStep step{};
    bool forward = true;  ///< of the forward, else of the backward
    bool exchange = false;
    int layer = 0;  ///< of the stage, from 0 on
    double begin = 0;
    double end = 0;
};

/// The parts that take time, stream by stream in the order in which they are issued.
std::vector<PlacedPart> placed_parts(const std::vector<LayerParts>& forward,
                                     const std::vector<LayerParts>& backward);

/// The whole of a pair that begins at 0 and takes `duration`: what comes before the layers, the
/// layers, and what comes after them, stretched to it. Layers are numbered from 0 in each
/// pass, and exchanges do not wait for other ranks.
std::vector<PairPart> parts_of_pair(const Overlap& pair, const PairParts& forward,
                                    const PairParts& backward, Duration duration);

}  // namespace debubble::sim
