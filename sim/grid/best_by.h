#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sim/grid/search.h"

/// The best plan for each value of a swept key.
namespace debubble::sim {

/// The index of the key among those that the grid sweeps. Throws InputError with a did-you-mean
/// suggestion for another key.
std::size_t place_of_swept_key(const Grid& grid, const std::string& key);

/// The points of the grid with this value of the key, in grid order.
std::vector<std::size_t> points_with(const Grid& grid, std::size_t key, std::size_t value);

/// The best of the fitting rows for each value of the key, in the values' order; null where none
/// fits.
std::vector<const SweepRow*> best_by(std::span<const SweepRow> rows, const Grid& grid,
                                     std::size_t key, Objective objective);

}  // namespace debubble::sim
