#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/grid/sweep_row.h"

/// Duplicate plans of a sweep: rows reached by different keys whose Programs have the same hash and
/// whose figures are all equal, to the nanosecond and the byte. Rows with equal step times alone
/// are not duplicates.
namespace debubble::sim {

bool are_duplicates(const SweepRow& a, const SweepRow& b);

/// For each row the position of the first row in grid order that it duplicates; nothing for that
/// first row, and for impossible plans.
std::vector<std::optional<std::size_t>> duplicates_in(const std::vector<SweepRow>& rows);

/// The keys that make no difference between duplicates, with the values of `original`:
/// "training.recompute=none; parallel.sequence=false".
std::string difference_of(const SweepRow& duplicate, const SweepRow& original,
                          std::span<const std::string> keys);

/// Fills SweepRow::twin_of.
void mark_duplicates(std::vector<SweepRow>& rows, std::span<const std::string> keys);

}  // namespace debubble::sim
