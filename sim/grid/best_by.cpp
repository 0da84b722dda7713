#include "sim/grid/search.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::sim {
namespace {

/// The index of the point's value among those of the key.
std::size_t value_of(const scenarios::Sweep& sweep, std::size_t point, std::size_t key) {
    for (std::size_t later = sweep.keys.size() - 1; later > key; --later)
        point /= sweep.keys[later].values.size();
    return point % sweep.keys[key].values.size();
}

}  // namespace

std::size_t place_of_swept_key(const Grid& grid, const std::string& key) {
    const std::vector<std::string> keys = grid.keys();
    const auto at = std::ranges::find(keys, key);
    if (at != keys.end()) return at - keys.begin();
    const auto guess = did_you_mean(key, keys);
    throw InputError(fmt::format("--by {}: the grid does not sweep this key; {}", key,
                                 guess ? fmt::format("did you mean '{}'?", *guess)
                                       : fmt::format("it sweeps {}", fmt::join(keys, ", "))));
}

std::vector<std::size_t> points_with(const Grid& grid, std::size_t key, std::size_t value) {
    std::vector<std::size_t> points;
    std::ranges::copy_if(grid.points, std::back_inserter(points), [&](std::size_t point) {
        return value_of(grid.sweep, point, key) == value;
    });
    return points;
}

std::vector<const SweepRow*> best_by(std::span<const SweepRow> rows, const Grid& grid,
                                     std::size_t key, Objective objective) {
    std::vector<const SweepRow*> best(grid.sweep.keys[key].values.size(), nullptr);
    for (const SweepRow& row : rows) {
        const SweepRow*& leader = best[value_of(grid.sweep, row.index, key)];
        if (is_better(row, leader, objective)) leader = &row;
    }
    return best;
}

}  // namespace debubble::sim
