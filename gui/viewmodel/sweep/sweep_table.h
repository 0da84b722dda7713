#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gui/viewmodel/source.h"
#include "sim/grid/grid.h"

/// The rows of a sweep as a sorted and filtered table, and as points of a plot.
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
    /// The values of a row's keys, except keys with one value: "tensor 8, pipeline 4, schedule
    /// zb-v".
    std::string plan_of(std::size_t row) const;
    /// The row, other than a duplicate, with the keys of a scenario; nothing if there is none.
    std::optional<std::size_t> row_of(const ScenarioText& source) const;

    /// The number of duplicates of other rows (sim/grid/compare_plans.h), which no order lists.
    std::size_t duplicates() const;

    /// The shown text of a cell.
    std::string text(std::size_t row, std::size_t column) const;
    /// The number of a cell; nothing if the figure has no value.
    std::optional<double> number(std::size_t row, std::size_t column) const;

    /// The rows in the default order: those that fit, the fastest first, then those that are out of
    /// memory, then impossible ones. `filter` is that of order().
    std::vector<std::size_t> best_first(const std::string& filter) const;

    /// The numbers of the rows without duplicates that match every word of `filter` (meets()),
    /// sorted stably by this column, rows without a value last.
    std::vector<std::size_t> order(std::size_t column, bool descending,
                                   const std::string& filter) const;

    /// The results.csv of these rows and their duplicates, in the format of `debubble sweep`, with
    /// marked duplicates and the Pareto column.
    std::string csv(std::span<const std::size_t> rows) const;

    std::size_t column_of(std::string_view key) const;

    /// Whether a row matches a word of a filter: it contains "zb-h1" or "fits", in any case, it
    /// does not contain the word of "!impossible", or its shown values satisfy "tensor=4",
    /// "pipeline>=2" or "peak<70". Words are searched in all columns except numbers and that of
    /// unvalidated figures, which has many names for every plan.
    bool meets(std::size_t row, const std::string& word) const;

private:
    bool contains(std::size_t row, const std::string& word) const;
    bool is_figure(std::size_t column) const;

    std::vector<SweepColumn> columns_;  ///< swept keys, figures, fits, unvalidated, reason
    std::size_t keys_ = 0;
    std::vector<sim::SweepRow> rows_;
    std::vector<std::optional<std::size_t>> original_;  ///< of each duplicate
};

/// The changes of a scenario since it was swept, with the former values, except the keys of the
/// grid: "gpus 8, schedule zb-h1"; empty without changes, or if one of the texts is not YAML.
std::string ground_of_rows(const ScenarioText& swept, const ScenarioText& now,
                           const sim::Grid& grid);

/// A row with both figures of a plot.
struct PlotPoint {
    std::size_t row = 0;
    double x = 0;
    double y = 0;
    bool fits = false;
};

std::vector<PlotPoint> points_of(const SweepTable& table, std::span<const std::size_t> rows,
                                 std::size_t x, std::size_t y);

/// Indices in `points` of the fitting points on the Pareto frontier of both figures, sorted by x.
/// Empty if a figure is neither better when larger nor when smaller.
std::vector<std::size_t> frontier(std::span<const PlotPoint> points, Better x, Better y);

}  // namespace debubble::gui
