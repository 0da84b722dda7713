#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/predict.h"

/// A row of a sweep's results, and its form in results.csv.
namespace debubble::sim {

/// The figures of a plan, in the order of figure_names(): numbers, and after them two words.
struct PlanFigures {
    static constexpr std::size_t kNumbers = 51;

    /// NaN where a figure has no value. `tight` is 0 or 1, and `memory_verdict` its enumerator.
    std::array<double, kNumbers> numbers;
    std::string scenario;
    std::string schedule_hash;

    PlanFigures() { numbers.fill(std::numeric_limits<double>::quiet_NaN()); }
    explicit PlanFigures(const Prediction& prediction);

    /// Precondition: a figure of this name is a number.
    double& operator[](std::string_view name);
    double operator[](std::string_view name) const;
    std::size_t hash() const;
    /// Equal in every bit, as the texts of results.csv are then.
    friend bool operator==(const PlanFigures& a, const PlanFigures& b);
};

/// A point of the grid and its result. A row from a file equals the row that was written.
struct SweepRow {
    std::size_t index = 0;               ///< index of the point in the grid
    std::vector<std::string> values;     ///< values of the swept keys: the row's identity
    std::optional<PlanFigures> figures;  ///< unset if the plan is impossible
    bool fits = false;
    std::optional<bool> pareto;  ///< set once all points are known
    std::string reason;  ///< why the plan is impossible or does not fit, or whose duplicate it is,
                         ///< one line
    /// The keys that make no difference to another row, with that row's values; set once all points
    /// are known, unless no duplicate comes before it in the grid (sim/grid/compare_plans.h).
    std::optional<std::string> twin_of;
    std::string unvalidated;               ///< the words of unvalidated_features(), one line
    std::optional<std::string> plan = {};  ///< the settled plan in words, if it is possible
    friend bool operator==(const SweepRow&, const SweepRow&) = default;

    bool possible() const { return figures.has_value(); }
    /// NaN if the figure has no value.
    double figure(std::string_view name) const;
    bool surely_fits() const;  ///< fits, and so would the greatest published peak of similar plans
};

/// The scalars of `simulate --json`; exposed communication, that of each kind, optimizer and idle
/// time as means over the ranks; peak and reserved memory of the worst rank, the latter and the
/// memory left with it without a value where the allocator was not simulated because it decides
/// nothing. The last ones are words.
std::vector<std::string> figure_names();

/// The columns of results.csv, and a row's fields in them. `schema` is the name and version of
/// these columns, the same in every row.
std::vector<std::string> csv_columns(std::span<const std::string> keys);
std::vector<std::string> csv_fields(const SweepRow& row);
/// Precondition: as many fields as there are columns for this number of swept keys.
SweepRow row_of_csv(const std::vector<std::string>& fields, std::size_t keys);

/// Marks the rows that fit and that no other fitting row beats in throughput (tokens_per_s) without
/// holding more memory, or in memory without being slower. Marked duplicates are left out. True if
/// that changes a row.
bool mark_pareto(std::vector<SweepRow>& rows);

}  // namespace debubble::sim
