#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gui/viewmodel/source.h"
#include "sim/grid/grid.h"

/// The rows of a sweep as a table to sort and filter, and as points of a plot.
namespace debubble::gui {

enum class Better : std::uint8_t { Neither, Less, More };

struct SweepColumn {
    std::string key;    ///< key in results.csv, such as "parallel.tensor" or "step_time_s"
    std::string title;  ///< heading, such as "step time [s]"
    bool numeric = false;
    Better better = Better::Neither;
    bool swept = false;
    bool constant = false;  ///< a swept key with one value
};

class SweepTable {
public:
    SweepTable() = default;
    explicit SweepTable(const sim::Grid& grid);

    const std::vector<SweepColumn>& columns() const { return columns_; }
    const std::vector<sim::SweepRow>& rows() const { return rows_; }
    void add(std::vector<sim::SweepRow> rows);
    /// The values of a row's keys, but of those with one value: "tensor 8, pipeline 4, schedule
    /// zb-v".
    std::string plan_of(std::size_t row) const;
    /// The row, and no twin, whose keys a scenario has as its values; nothing if none has.
    std::optional<std::size_t> row_of(const ScenarioText& source) const;

    /// The number of rows that are twins of others (sim/grid/compare_plans.h), which no order
    /// lists.
    std::size_t twins() const;

    /// The text of a cell for a person.
    std::string text(std::size_t row, std::size_t column) const;
    /// The number of a cell; nothing if the figure has no value.
    std::optional<double> number(std::size_t row, std::size_t column) const;

    /// The rows in the order in which a person asks for them: those that fit, the fastest first,
    /// then those that are out of memory, then impossible ones. `filter` as in order().
    std::vector<std::size_t> best_first(const std::string& filter) const;

    /// The numbers of the rows, but for twins, that meet every word of `filter` (meets()), in the
    /// order of this column; rows without a value come last, and the order is stable.
    std::vector<std::size_t> order(std::size_t column, bool descending,
                                   const std::string& filter) const;

    /// The results.csv of these rows and their twins, in the form of `debubble sweep`; twins and
    /// the Pareto column are marked.
    std::string csv(std::span<const std::size_t> rows) const;

    std::size_t column_of(std::string_view key) const;

    /// Whether a row meets a word of a filter: "zb-h1" and "fits" are contained in it, in any case,
    /// "!impossible" is not; "tensor=4", "pipeline>=2" and "peak<70" compare what its column shows.
    /// Words are sought in every column except numbers and that of unvalidated figures, which names
    /// much of every plan.
    bool meets(std::size_t row, const std::string& word) const;

private:
    bool contains(std::size_t row, const std::string& word) const;
    bool is_figure(std::size_t column) const;

    std::vector<SweepColumn> columns_;  ///< swept keys, figures, fits, unvalidated, reason
    std::size_t keys_ = 0;
    std::vector<sim::SweepRow> rows_;
    std::vector<std::optional<std::size_t>> original_;  ///< of each row that is a twin
};

/// What of a scenario has changed since it was swept, with its value then, besides the keys of the
/// grid: "gpus 8, schedule zb-h1"; empty if nothing has, or if one of the texts is not YAML.
std::string ground_of_rows(const ScenarioText& swept, const ScenarioText& now,
                           const sim::Grid& grid);

/// A row that has both figures.
struct PlotPoint {
    std::size_t row = 0;
    double x = 0;
    double y = 0;
    bool fits = false;
};

std::vector<PlotPoint> points_of(const SweepTable& table, std::span<const std::size_t> rows,
                                 std::size_t x, std::size_t y);

/// Indices in `points` of the fitting points that no other fitting one beats in one figure without
/// being worse in the other, sorted by x. Empty if a figure is neither better when larger nor when
/// smaller.
std::vector<std::size_t> frontier(std::span<const PlotPoint> points, Better x, Better y);

}  // namespace debubble::gui
