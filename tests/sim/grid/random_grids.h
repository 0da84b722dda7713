#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace debubble::sim {

/// A scenario with a `sweep:` of two or three keys over the ways in which today's jobs are cut and
/// run: precision, shards, dispatchers, sizes of experts, kernels of attention, overlap, graphs,
/// layouts, recomputation and offload by module, Muon, schedules and devices too small for some of
/// the points. The text follows from the seed alone.
std::string random_grid(std::uint32_t seed);

/// Every key that some grid sweeps.
std::vector<std::string> keys_of_random_grids();

}  // namespace debubble::sim
