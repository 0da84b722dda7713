#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/predict.h"

/// A row of a sweep's results, and its form in results.csv.
namespace debubble::sim {

/// A point of the grid and its result, as the texts of its CSV fields, so that rows from a file and
/// rows just computed are the same.
struct SweepRow {
    std::size_t index = 0;             ///< index of the point in the grid
    std::vector<std::string> values;   ///< values of the swept keys: the row's identity
    std::vector<std::string> figures;  ///< in the order of figure_names(); all empty if impossible
    bool fits = false;
    std::string pareto;  ///< "true" or "false" once all points are known, else empty
    std::string reason;  ///< why the plan is impossible or does not fit, or whose duplicate it is,
                         ///< one line
    /// The keys that make no difference to another row, with that row's values; set once all points
    /// are known, and empty if no duplicate comes before it in the grid (sim/grid/compare_plans.h).
    std::string twin_of;
    std::string unvalidated;  ///< the words of unvalidated_features(), one line
    std::string plan = {};    ///< the settled plan in words; empty if the point is impossible
    friend bool operator==(const SweepRow&, const SweepRow&) = default;

    bool possible() const { return !figures.front().empty(); }
    /// Precondition: possible(), and the figure has a value.
    double figure(std::string_view name) const;
    bool surely_fits() const;  ///< fits, and so would the greatest published peak of similar plans
};

/// The scalars of `simulate --json`; exposed communication, that of each kind, optimizer and idle
/// time as means over the ranks; peak and reserved memory of the worst rank, the latter and the
/// memory left with it empty where the allocator was not simulated because it decides nothing.
std::vector<std::string> figure_names();

/// The figures of a prediction in the order of figure_names().
std::vector<std::string> figures_of(const Prediction& prediction);

/// The columns of results.csv, and a row's fields in them. `schema` is the name and version of
/// these columns, the same in every row.
std::vector<std::string> csv_columns(std::span<const std::string> keys);
std::vector<std::string> csv_fields(const SweepRow& row);
/// Precondition: as many fields as there are columns for this number of swept keys.
SweepRow row_of_csv(const std::vector<std::string>& fields, std::size_t keys);

/// Marks the rows that fit and that no other fitting row beats in throughput (tokens_per_s) without
/// holding more memory, or in memory without being slower. Marked duplicates are left out.
void mark_pareto(std::vector<SweepRow>& rows);

}  // namespace debubble::sim
