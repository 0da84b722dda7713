#pragma once

#include "models/execution/kernel_options.h"
#include "scenarios/plan/scenario.h"

/// Communication and kernels that run on a device at the same time.
namespace debubble::sim {

/// What they take from each other. Kernels of a collective occupy multiprocessors, and both use the
/// device's memory.
struct Contention {
    double slowed = 0;   ///< share of their rate that kernels lose
    double stretch = 1;  ///< time of communication beside kernels, relative to alone
};
/// Of a collective on so many multiprocessors. What these leave runs at a higher clock, up to that
/// of short runs, since it draws less power.
Contention contention_of(const scenarios::Gpu& gpu, double multiprocessors);
/// Of exchanges of experts.
Contention contention_of_exchanges(const scenarios::Scenario& scenario);
/// Of collectives between replicas. Where the clock makes up for their multiprocessors, they lose
/// nothing either: an H100 that exchanges shards for longer than it computes took no longer than
/// alone (docs/cost-model.md).
Contention contention_of_replicas(const scenarios::Scenario& scenario);

/// Seconds of communication and kernels that begin at the same time and take so long alone.
double seconds_beside(double communication, double kernels, const Contention& contention);
/// Seconds by which kernels of so many seconds last longer because of communication beside them.
double slowed_by(double communication, double kernels, const Contention& contention);

}  // namespace debubble::sim
