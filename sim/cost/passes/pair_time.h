#pragma once

#include "scenarios/software/framework.h"
#include "sim/cost/passes/pair_lanes.h"
#include "sim/cost/passes/pair_layers.h"
#include "sim/cost/passes/pass_time.h"

/// A forward and a backward of two microbatches that overlap (Overlap).
namespace debubble::sim {

/// Seconds of the device's and of the host's work in a pass, or in a pair of passes.
struct PassWork {
    double kernels = 0;
    double exposed = 0;  ///< communication during which no kernel runs
    double host = 0;
    double free = 0;   ///< time of kernels without communication of their own pass
    double added = 0;  ///< time of the terms that overlap nothing (added_terms.h)
    double idle = 0;   ///< time for which the device waits for the host in any case
    int layers = 0;
    ExposedByKind exchanges{};
    double waits = 0;  ///< waits for the last rank of all-to-alls, part of `exposed`
};

/// The length of the pass, in which device and host work at the same time, and after which the
/// added terms follow.
double length_of(const PassWork& work);

/// Both passes together: their kernels run one after the other, and the all-to-alls of each pass
/// that the framework hides overlap kernels of the other pass. Each pass waits for its all-to-all
/// before it continues, so that an all-to-all overlaps one block of the other pass: the kernels up
/// to that pass's own next all-to-all, or of a layer. At most one all-to-all overlaps a block.
PassWork pair_of(const PassWork& one, const PassWork& other, const scenarios::Exchanges& hides);

/// Both passes, whose layers overlap on `lanes` (pair_layers.h), followed by their other parts one
/// after the other.
PassWork pair_of(const PassWork& forward, const PassWork& backward, const PairParts& of_forward,
                 const PairParts& of_backward, const PairLanes& lanes);

}  // namespace debubble::sim
