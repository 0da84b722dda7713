#pragma once

#include "models/operators/kernel.h"

/// Where the experts of a token are, of those that ranks or nodes share.
namespace debubble::sim {

/// The expected number of `places`, equal parts of the experts, to which a token sends at least one
/// of its rows. All choices of the router's groups are as likely, and so are all choices of experts
/// in them: with one group it is G (1 - C(E - E/G, k) / C(E, k)) (DeepEP dd758ca,
/// deep_ep/buffers/elastic.py).
double places_hit(std::int64_t places, const models::Routing& routing);

}  // namespace debubble::sim
