#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenarios/read_scenario.h"
#include "sim/prediction.h"

/// The plans that a scenario's `sweep:` asks about, and one row of the answer.
namespace debubble::sim {

/// A grid, read once. Thread-safe after construction.
struct Grid {
    /// `pinned` are set in every point (`--set`); they must not be swept keys.
    Grid(const std::string& name_or_path, std::vector<scenarios::Override> pinned);
    /// Of a scenario's text that need not be on the disk.
    Grid(const std::string& text, const std::string& file, std::vector<scenarios::Override> pinned);

    scenarios::ScenarioTemplate scenario;
    scenarios::Sweep sweep;
    std::vector<scenarios::Override> pinned;
    std::vector<std::size_t> points;  ///< indices that the conditions admit, in grid order

    scenarios::Scenario instantiate(std::size_t index) const;

private:
    void choose_points(const std::string& name);
};

/// A point of the grid and what became of it, as the texts of its CSV fields:
/// what was read from a file and what was just computed are then the same.
struct SweepRow {
    std::size_t index = 0;             ///< of the point in the grid
    std::vector<std::string> values;   ///< of the swept keys: the row's identity
    std::vector<std::string> figures;  ///< as figure_names(); all empty if impossible
    bool fits = false;
    std::string pareto;  ///< "true" or "false" once all points are known, else empty
    std::string reason;  ///< why it is impossible or does not fit, or whose twin it is, one line
    friend bool operator==(const SweepRow&, const SweepRow&) = default;

    bool possible() const { return !figures.front().empty(); }
    /// Precondition: possible(), and the figure has a value.
    double figure(std::string_view name) const;
};

/// The scalars of `simulate --json`, and peak_memory_bytes of the worst rank.
std::vector<std::string> figure_names();

/// Predicts one point. An impossible plan is a row with its reason.
SweepRow evaluate(const Grid& grid, std::size_t index);

/// Marks the rows that fit and that no other fitting row beats in throughput
/// (tokens_per_s) without holding more memory, or in memory without being slower.
void mark_pareto(std::vector<SweepRow>& rows);

}  // namespace debubble::sim
