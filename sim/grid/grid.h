#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/read/read_scenario.h"
#include "sim/grid/sweep_row.h"

/// The plans of a scenario's `sweep:` grid, and the prediction of one of them.
namespace debubble::sim {

// The inputs of a sweep's results other than its grid. They are stored in a file next to the
// results, so that a resumed sweep recognises rows of another scenario.

/// A hash or a version for each input, by its name for people ("the scenario", "the file
/// clusters/mine.yaml").
using Basis = std::map<std::string, std::string>;

/// The basis from a scenario's text without its `sweep:`, to which points may be added, and from
/// the `--set` options.
Basis basis_of(const std::string& text, const std::string& file,
               const std::vector<scenarios::Override>& pinned);
/// Adds the other files read so far: models, clusters, orders.
void add_files_read(Basis& basis, const std::filesystem::path& scenario);

/// The file next to `results` that holds the basis.
std::filesystem::path basis_file_of(const std::filesystem::path& results);

/// Writes the basis next to new results. For results of an earlier run, throws InputError if an
/// input differs from that run's; an input that only one of the two runs read is not compared, and
/// without a basis file nothing is. Precondition: `results` is locked.
void keep_basis(const std::filesystem::path& results, const Basis& basis, bool new_results);

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
