#pragma once

#include <optional>
#include <vector>

#include "models/graph/graph.h"
#include "scenarios/software/framework.h"
#include "schedule/action.h"
#include "sim/memory/layer_fold.h"

namespace debubble::sim {

/// Host-side launch counts of a pass.
struct Launches {
    int modules = 0;  ///< operators whose forward runs, in Python
    int kernels = 0;  ///< kernels, and in a whole pass collectives
    int experts = 0;  ///< additional kernels of grouped GEMMs that are a loop over experts
};

/// The host's time for the launches, at the framework's cost of each.
double host_seconds(const scenarios::Framework& framework, const Launches& launches);

/// The launches of each operator in one layer, by operator; otherwise as launches_of.
std::vector<Launches> launches_by_operator(const models::StageGraph& graph,
                                           const scenarios::CudaGraphs& graphs,
                                           std::optional<Pass> pass);

/// Counts the launches of one pass of a stage; without a `pass`, those of a Recompute. Launches
/// replayed by a CUDA graph are not counted.
Launches launches_of(const models::StageGraph& graph, LayerFold fold,
                     const scenarios::CudaGraphs& graphs, std::optional<Pass> pass);

}  // namespace debubble::sim
