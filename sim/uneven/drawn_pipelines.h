#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "schedule/schedule.h"
#include "sim/uneven/draw.h"

/// The pipelines of a drawn step, one for each replica of the data, of which the slowest ends it:
/// gradients are summed over all.
namespace debubble::sim {

/// How many pipelines of a step have loads of their own: those of all replicas where documents or
/// jitter are drawn, else of the groups of ranks that share experts, each of which has one load.
int pipelines_of_step(const scenarios::Scenario& scenario);

/// Which pipelines are played, and of which of them each step is the slowest. All are played where
/// that is no more than kMostPlayedActions; else as many as that for each draw, and each step has
/// its own and others of them, in a random choice by the seed.
class DrawnPipelines {
public:
    DrawnPipelines(const scenarios::Scenario& scenario, const Program& program);

    int draws() const { return draws_; }
    int of_step() const { return of_step_; }
    const std::vector<DrawnPipeline>& played() const { return played_; }
    /// Places in played(), without repetition, in ascending order.
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
