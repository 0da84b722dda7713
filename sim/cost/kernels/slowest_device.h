#pragma once

#include "scenarios/cluster/cluster.h"

/// Devices of one kind differ in speed under the same power limit (Sinha et al., "Not all GPUs are
/// created equal", SC 2022), and replicas wait for each other in every step.
namespace debubble::sim {

/// The expected maximum of `values` standard normal values (Blom, 1958: the quantile at (n - 3/8) /
/// (n + 1/4)); 0 for one.
double greatest_of_normal(int values);

/// The clock that the slowest of `devices` devices sustains, where clocks are normally distributed
/// about Gpu::kept_clock with Gpu::clock_spread: by greatest_of_normal. A single device has the
/// mean.
double slowest_clock(const scenarios::Gpu& gpu, int devices);

}  // namespace debubble::sim
