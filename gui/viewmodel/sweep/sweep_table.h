#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/grid/grid.h"

/// The rows of a sweep as a table to sort and filter, and as points of a plot.
namespace debubble::gui {

enum class Better : std::uint8_t { Neither, Less, More };

struct SweepColumn {
    std::string key;    ///< of results.csv: "parallel.tensor", "step_time_s"
    std::string title;  ///< "step time [s]"
    bool numeric = false;
    Better better = Better::Neither;
    bool swept = false;
};

class SweepTable {
public:
    SweepTable() = default;
    explicit SweepTable(const sim::Grid& grid);

    const std::vector<SweepColumn>& columns() const { return columns_; }
    const std::vector<sim::SweepRow>& rows() const { return rows_; }
    void add(std::vector<sim::SweepRow> rows);

    /// As a person reads it.
    std::string text(std::size_t row, std::size_t column) const;
    /// Nothing where a figure has no value.
    std::optional<double> number(std::size_t row, std::size_t column) const;

    /// Rows that contain every word of `filter`, in any column but that of what is unvalidated,
    /// which names much of every plan ("fits", "zb-h1"; "!word": that do not), by this column; rows
    /// without a value come last. A stable order of row numbers.
    std::vector<std::size_t> order(std::size_t column, bool descending,
                                   const std::string& filter) const;

    /// results.csv of these rows, as `debubble sweep` writes it; twins and the Pareto column are
    /// marked.
    std::string csv(std::span<const std::size_t> rows) const;

    std::size_t column_of(std::string_view key) const;

private:
    std::string field(std::size_t row, std::size_t column) const;  ///< as in the CSV

    std::vector<SweepColumn> columns_;  ///< swept keys, figures, fits, unvalidated, reason
    std::size_t keys_ = 0;
    std::vector<sim::SweepRow> rows_;
};

/// A row that has both figures.
struct PlotPoint {
    std::size_t row = 0;
    double x = 0;
    double y = 0;
    bool fits = false;
};

std::vector<PlotPoint> points_of(const SweepTable& table, std::span<const std::size_t> rows,
                                 std::size_t x, std::size_t y);

/// Places in `points` of those that fit and that no other fitting one beats in one figure without
/// being worse in the other; by x. Empty if a figure is neither better when more nor when less.
std::vector<std::size_t> frontier(std::span<const PlotPoint> points, Better x, Better y);

}  // namespace debubble::gui
