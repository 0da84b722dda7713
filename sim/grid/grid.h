#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/read/read_scenario.h"
#include "sim/grid/sweep_basis.h"
#include "sim/grid/sweep_row.h"

/// The plans of a scenario's `sweep:` grid, and the prediction of one of them.
namespace debubble::sim {

/// The correction of every prediction of a grid by a measured step (sim/anchor).
struct Correction {
    /// Replaces the predicted figures, or adds the corrected ones.
    std::function<void(const scenarios::Scenario&, Prediction&)> apply, add;
    double least = 1;  ///< no corrected step is shorter than this share of its prediction
};

/// A grid that is read once. Thread-safe after construction.
struct Grid {
    /// `pinned` are set in every point (`--set`); they must not be swept keys. `swept` follow the
    /// grid's own keys, or replace one of the same name.
    Grid(const std::string& name_or_path, std::vector<scenarios::Override> pinned,
         const std::vector<scenarios::SweepKey>& swept = {});
    /// The grid of a scenario's text that need not be on disk.
    Grid(const std::string& text, const std::string& file, std::vector<scenarios::Override> pinned);

    scenarios::ScenarioTemplate scenario;
    scenarios::Sweep sweep;
    std::vector<scenarios::Override> pinned;
    std::vector<std::size_t> points;  ///< indices of the points that the conditions admit, in grid
                                      ///< order
    Basis basis;
    bool any_schedule = false;  ///< admits schedules that a framework's software lacks
    std::optional<Correction> correction;

    scenarios::Scenario instantiate(std::size_t index) const;
    std::vector<std::string> keys() const;  ///< names of the swept keys

private:
    void choose_points(const std::string& name);
};

/// True if a key of `imbalance` is swept: the grid compares loads.
bool sweeps_loads(const Grid& grid);
/// True if the point is compared by its drawn steps and not under even loads: the grid sweeps
/// loads, or the point packs its documents in every step, or other points of the grid do. Bounds of
/// even loads do not hold for it.
bool draws_steps(const Grid& grid, const scenarios::Scenario& scenario);

/// The reason why a point is not ranked although it could be simulated: the framework's software
/// lacks its schedule, and the grid does not admit such schedules. Empty otherwise.
std::string not_ranked(const Grid& grid, const scenarios::Scenario& scenario);

/// The point of the grid that differs only in not recomputing anything, if there is another one.
std::optional<std::size_t> without_recompute(const Grid& grid, std::size_t index);
/// The point of the grid that is the same plan without recomputation, if there is one: flash
/// attention keeps no scores, so there is nothing to recompute selectively.
std::optional<std::size_t> same_without_recompute(const Grid& grid, std::size_t index,
                                                  const scenarios::Scenario& scenario);

/// The row of another point, if it is known.
using KnownRow = std::function<std::optional<SweepRow>(std::size_t index)>;

/// Predicts one point. An impossible plan is a row with its reason, and so is one that is not
/// ranked. A point that is the plan of a known row gets its figures without a prediction.
SweepRow evaluate(const Grid& grid, std::size_t index, const ChoicesDone& choosing = {},
                  const KnownRow& known = {});

}  // namespace debubble::sim
