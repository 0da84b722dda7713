#pragma once

#include "scenarios/software/framework.h"
#include "sim/cost/passes/pair_lanes.h"
#include "sim/cost/passes/pair_layers.h"
#include "sim/cost/passes/pass_time.h"

/// A forward and a backward of two microbatches at once (Overlap).
namespace debubble::sim {

/// Seconds of the device's and of the host's work in a pass, or in a pair of passes.
struct PassWork {
    double kernels = 0;
    double exposed = 0;  ///< communication during which no kernel runs
    double host = 0;
    double free = 0;   ///< time of kernels during which their own pass exchanges nothing
    double added = 0;  ///< time of the terms that nothing hides (added_terms.h)
    double idle = 0;   ///< during which the device waits for the host, whatever it does
    int layers = 0;
    ExposedByKind exchanges{};
    double waits = 0;  ///< for the last rank of exchanges of experts, part of `exposed`
};

/// The length of the pass, in which device and host work at the same time, and after which the
/// added terms come.
double length_of(const PassWork& work);

/// Both passes together: their kernels run one after the other, and the exchanges of each half that
/// the framework hides run during kernels of the other half. Each half waits for its exchange
/// before it goes on, so that an exchange runs during one block of the other half: the kernels up
/// to that half's own next exchange, or of a layer. At most one exchange runs during a block.
PassWork pair_of(const PassWork& one, const PassWork& other, const scenarios::Exchanges& hides);

/// Both passes, whose layers run beside each other on `lanes` (pair_layers.h), and the rest of them
/// one after the other.
PassWork pair_of(const PassWork& forward, const PassWork& backward, const PairParts& of_forward,
                 const PairParts& of_backward, const PairLanes& lanes);

}  // namespace debubble::sim
