#pragma once

#include "models/operators/kernel.h"

/// The destinations of a token among the ranks or nodes that share the experts.
namespace debubble::sim {

/// The expected number of `destinations`, equal parts of the experts, to which a token is sent at
/// least once. The router chooses groups uniformly, and experts in them uniformly: with one group
/// it is G (1 - C(E - E/G, k) / C(E, k)) (DeepEP dd758ca, deep_ep/buffers/elastic.py).
double expected_destinations(std::int64_t destinations, const models::Routing& routing);

}  // namespace debubble::sim
