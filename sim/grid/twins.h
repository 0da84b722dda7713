#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/grid/sweep_row.h"

/// Rows of a sweep that are one plan, reached by different keys: their Programs have the same hash
/// and all their figures are equal, to the nanosecond and the byte. Equal step times do not make
/// twins.
namespace debubble::sim {

bool are_twins(const SweepRow& a, const SweepRow& b);

/// For each row the position of the first row in grid order that it is a twin of; nothing for that
/// first row, and for impossible plans.
std::vector<std::optional<std::size_t>> twins_in(const std::vector<SweepRow>& rows);

/// The keys that make no difference between twins, with the values of `original`:
/// "training.recompute=none; parallel.sequence=false".
std::string difference_of(const SweepRow& twin, const SweepRow& original,
                          std::span<const std::string> keys);

/// Fills SweepRow::twin_of.
void mark_twins(std::vector<SweepRow>& rows, std::span<const std::string> keys);

}  // namespace debubble::sim
