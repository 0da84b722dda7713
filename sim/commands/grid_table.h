#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/grid/grid.h"

/// Plans of a grid, as `sweep` and `search` print them.
namespace debubble::sim {

/// A line for each row: swept keys, speed, and what tells one plan from another: bubble, exposed
/// communication as a share of the step, memory held and left. What is unvalidated in some of them
/// stands in their lines, what is in all of them below.
std::string table_of(std::span<const SweepRow* const> rows, const Grid& grid);

/// How many of the rows that fit are twins of others, and for how many each key makes no
/// difference: one sentence, or nothing where there is none.
std::string twins_text(const std::vector<SweepRow>& rows, std::span<const std::string> keys);

}  // namespace debubble::sim
