#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "schedule/schedule.h"
#include "sim/uneven/draw.h"

/// The pipelines of a drawn step, one for each replica of the data, of which the slowest ends it,
/// since gradients are reduced over all.
namespace debubble::sim {

/// The number of a step's pipelines with loads of their own: those of all replicas where documents
/// or jitter are drawn, else of the groups of ranks that share experts, each of which has one load.
int pipelines_of_step(const scenarios::Scenario& scenario);

/// The simulated pipelines, and for each step those of which it is the slowest. All are simulated
/// where that is at most kMostPlayedActions; else kMostPlayedActions' worth for each draw,
/// different ones in each step, chosen at random by the seed.
class DrawnPipelines {
public:
    DrawnPipelines(const scenarios::Scenario& scenario, const Program& program);

    int draws() const { return draws_; }
    int of_step() const { return of_step_; }
    const std::vector<DrawnPipeline>& played() const { return played_; }
    /// Indices in played(), without repetition, in ascending order.
    std::vector<std::size_t> of_draw(int draw) const;

private:
    int draws_;
    int of_step_;
    int played_of_draw_;
    std::int64_t seed_;
    std::vector<DrawnPipeline> played_;
};
inline constexpr double kMostPlayedActions = 1e7;

}  // namespace debubble::sim
