#pragma once

#include <span>
#include <vector>

#include "sim/grid/sweep_row.h"

/// Plans of one training by their time and cost.
namespace debubble::sim {

/// Days and cost of the median run; GPU hours where no price is given.
struct RunPoint {
    double days = 0;
    double cost = 0;
};
/// Precondition: the row has figures of the whole training.
RunPoint run_point(const SweepRow& row);

/// The rows that no other one beats in days without a higher cost, or in cost without taking
/// longer: the fastest first, each cheaper than the one before it. Rows without such figures are
/// left out.
std::vector<const SweepRow*> run_frontier(std::span<const SweepRow> rows);

}  // namespace debubble::sim
