#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/grid/grid.h"
#include "sim/grid/sweep.h"

namespace debubble::sim {

/// The figure by which a plan is chosen. Only plans that fit are chosen. Days and cost are those of
/// the whole training (training.tokens), in the median of drawn runs.
enum class Objective { TokensPerS, Mfu, StepTime, PeakMemory, Days, Cost };
constexpr bool is_of_run(Objective objective) {
    return objective == Objective::Days || objective == Objective::Cost;
}

std::vector<std::string> objective_names();
/// Throws InputError with a did-you-mean suggestion.
Objective parse_objective(const std::string& name);

/// True if the row fits and beats `best`, which is null where none is known.
bool is_better(const SweepRow& row, const SweepRow* best, Objective objective);

/// The best of the fitting rows; among equals, the first one in the grid.
const SweepRow* best_of(std::span<const SweepRow> rows, Objective objective);

struct SearchResult {
    std::optional<SweepRow> best;      ///< unset if no plan fits
    std::vector<SweepRow> duplicates;  ///< duplicates of the best, in grid order
                                       ///< (sim/grid/compare_plans.h)
    /// The plans that were simulated and fit, the best among them first, then by the objective,
    /// without duplicates; after all others those that take longer than BatchOptions::most_days.
    std::vector<SweepRow> played;
    std::size_t late = 0;        ///< number of those, at the end of `played`
    std::size_t points = 0;      ///< number of points that the grid admits
    std::size_t predicted = 0;   ///< number that was simulated event by event
    std::size_t too_big = 0;     ///< number ruled out by the memory that they hold throughout
    std::size_t too_slow = 0;    ///< number ruled out by the work of their ranks alone
    std::size_t impossible = 0;  ///< number of plans that cannot be built
    std::size_t too_late = 0;    ///< number ruled out, as their bounds take longer than
                                 ///< BatchOptions::most_days
    std::size_t lacking = 0;     ///< number of plans whose schedule the framework's software lacks
    bool finished = true;        ///< false if it was stopped

    /// Those of `played` that end in time.
    std::span<const SweepRow> in_time() const { return {played.data(), played.size() - late}; }
};

/// The best plan of the grid: the same as best_of() of a full sweep, but plans whose bound (see
/// plan_bound.h) cannot beat the best one found are not simulated. With `ranks` the first `ranks`
/// rows of SearchResult::played are those of a full sweep, too. For days and cost it also simulates
/// all plans that may be on the frontier of both (sim/grid/compare_plans.h).
SearchResult search(const Grid& grid, Objective objective, const BatchOptions& options = {},
                    std::size_t ranks = 1);
/// The same among some points of the grid, in grid order.
SearchResult search(const Grid& grid, std::span<const std::size_t> points, Objective objective,
                    const BatchOptions& options = {}, std::size_t ranks = 1);

// The best plan for each value of a swept key.

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
