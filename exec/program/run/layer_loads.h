#pragma once

#include <chrono>
#include <vector>

#include "exec/core/communicator/communicator.h"
#include "exec/core/rank/rank_job.h"
#include "exec/program/run/router_metrics.h"
#include "scenarios/plan/scenario.h"

namespace debubble::exec {

/// The loads of experts that come in a run, and what routers add to its losses, gathered from all
/// ranks.
class LayerLoads {
public:
    /// Precondition: the network has experts. `world` must outlive this object.
    LayerLoads(const scenarios::Scenario& scenario, Communicator& world);

    /// Adds the step that has just run; a collective over all ranks.
    RouterMetrics step(RankJob& rank, std::chrono::nanoseconds patience);
    /// The layers with experts, over all steps so far.
    std::vector<LayerLoad> of_layers() const;

private:
    Communicator& world_;
    bool sequence_parallel_;
    std::vector<double> sums_;     ///< of loads over the steps, by layer; 0: it has no experts
    std::vector<double> largest_;  ///< by layer
    std::int64_t steps_ = 0;
};

}  // namespace debubble::exec
