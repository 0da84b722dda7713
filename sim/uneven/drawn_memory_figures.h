#pragma once

#include "base/units.h"
#include "sim/uneven/drawn_pipeline.h"

namespace debubble::sim {

/// The requested memory of the fullest rank of drawn steps, in each step that of its fullest
/// pipeline: quantiles by the nearest rank.
struct DrawnMemoryFigures {
    int draws = 1;
    double quantile = 1;  ///< the share of the steps that must fit
    Bytes p50;
    Bytes at_quantile;
    Bytes most;
    DrawnPipeline decides;  ///< the pipeline with `at_quantile`, which the ranks' rows describe
};

}  // namespace debubble::sim
