#include "sim/grid/compare_plans.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace debubble::sim {

RunPoint run_point(const SweepRow& row) {
    const double cost = row.figure("cost");
    return {row.figure("days"), std::isnan(cost) ? row.figure("gpu_hours") : cost};
}

std::vector<const SweepRow*> run_frontier(std::span<const SweepRow> rows) {
    std::vector<std::pair<RunPoint, const SweepRow*>> points;
    for (const SweepRow& row : rows)
        if (row.fits && !std::isnan(row.figure("days"))) points.emplace_back(run_point(row), &row);
    std::ranges::stable_sort(points, [](const auto& a, const auto& b) {
        return a.first.days != b.first.days ? a.first.days < b.first.days
                                            : a.first.cost < b.first.cost;
    });
    std::vector<const SweepRow*> frontier;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [point, row] : points) {
        if (point.cost >= least) continue;
        least = point.cost;
        frontier.push_back(row);
    }
    return frontier;
}

}  // namespace debubble::sim
