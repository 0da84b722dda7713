#pragma once

#include "models/execution/kernel_options.h"
#include "scenarios/plan/scenario.h"

/// Communication and kernels that overlap on a device.
namespace debubble::sim {

/// Mutual slowdowns. Kernels of a collective occupy multiprocessors, and both use the device's
/// memory.
struct Contention {
    double slowed = 0;   ///< share of their rate that overlapped kernels lose
    double stretch = 1;  ///< slowdown of communication that overlaps kernels
};
/// For a collective on `multiprocessors` multiprocessors. The others run at a higher clock, up to
/// that of short runs, since they draw less power.
Contention contention_of(const scenarios::Gpu& gpu, double multiprocessors);
/// For all-to-alls of experts.
Contention contention_of_exchanges(const scenarios::Scenario& scenario);
/// For collectives between replicas. Where the clock makes up for their multiprocessors, they lose
/// nothing either: an H100 whose communication took longer than its kernels took no longer than the
/// communication alone (docs/cost-model.md).
Contention contention_of_replicas(const scenarios::Scenario& scenario);

/// Seconds until both are done, of communication and kernels that start together; arguments are the
/// times without overlap.
double overlapped_seconds(double communication, double kernels, const Contention& contention);
/// Seconds by which kernels of `kernels` seconds are longer because communication overlaps them.
double slowed_by(double communication, double kernels, const Contention& contention);

}  // namespace debubble::sim
