#include "gui/viewmodel/sweep/sweep_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <sstream>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/units.h"
#include "gui/viewmodel/timeline/words.h"
#include "scenarios/read/edit.h"
#include "sim/grid/compare_plans.h"
#include "text/csv_row.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

/// A figure of the table; the others are only in the CSV.
struct Figure {
    std::string_view key;
    std::string_view title;
    Better better;
    std::string (*text)(double);
};

std::string percent(double x) {
    return text::percent(x);
}
std::string time(double x) {
    return text::time_text(x);
}
std::string rate(double x) {
    return text::rate_text(x);
}
std::string one_decimal(double x) {
    return fmt::format("{:.1f}", x);
}
std::string memory(double x) {
    return fmt::format("{:.2f}", x / kGiB);
}

constexpr std::array kFigures{
    Figure{"tokens_per_s", "tokens/s", Better::More, rate},
    Figure{"step_time_s", "step time", Better::Less, time},
    Figure{"mfu", "MFU", Better::More, percent},
    Figure{"mfu_causal", "MFU, causal", Better::More, percent},
    Figure{"tflops_per_gpu", "TFLOP/s per GPU", Better::More, one_decimal},
    Figure{"bubble", "bubble", Better::Less, percent},
    Figure{"exposed_comm_s", "exposed", Better::Less, time},
    Figure{"peak_memory_bytes", "peak memory [GiB]", Better::Less, memory},
    Figure{"memory_left_bytes", "left [GiB]", Better::More, memory},
    Figure{"memory_left_of_requested_bytes", "left of requested [GiB]", Better::More, memory},
};

std::optional<double> parsed(const std::string& text) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(value)) return std::nullopt;
    return value;
}

bool all_numbers(const std::vector<std::string>& values) {
    return std::ranges::all_of(values, [](const std::string& v) { return parsed(v).has_value(); });
}

std::string state_of(const sim::SweepRow& row) {
    if (row.fits && !row.surely_fits()) return said("sweep", "cannot be told");
    return row.fits         ? said("sweep", "fits")
           : row.possible() ? said("sweep", "out of memory")
                            : said("sweep", "impossible");
}

}  // namespace

SweepTable::SweepTable(const sim::Grid& grid) {
    for (const scenarios::SweepKey& key : grid.sweep.keys)
        columns_.push_back({key.key, key.key, all_numbers(key.values), Better::Neither, true,
                            key.values.size() == 1});
    keys_ = columns_.size();
    for (const Figure& figure : kFigures)
        columns_.push_back({std::string(figure.key), said("sweep", std::string(figure.title)), true,
                            figure.better, false});
    columns_.push_back({"fits", said("sweep", "memory"), false, Better::Neither, false});
    columns_.push_back(
        {"unvalidated", said("sweep", "unvalidated"), false, Better::Neither, false});
    columns_.push_back({"reason", said("sweep", "why not"), false, Better::Neither, false});
}

std::size_t SweepTable::column_of(std::string_view key) const {
    return std::ranges::find(columns_, key, &SweepColumn::key) - columns_.begin();
}

void SweepTable::add(std::vector<sim::SweepRow> rows) {
    std::ranges::move(rows, std::back_inserter(rows_));
    original_ = sim::duplicates_in(rows_);
}

std::string SweepTable::plan_of(std::size_t row) const {
    std::string words;
    for (std::size_t c = 0; c < keys_; ++c) {
        if (columns_[c].constant) continue;
        const std::string& key = columns_[c].key;
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", key.substr(key.rfind('.') + 1),
                             rows_[row].values[c]);
    }
    return words;
}

std::optional<std::size_t> SweepTable::row_of(const ScenarioText& source) const {
    std::vector<std::optional<std::string>> written;
    try {
        for (std::size_t c = 0; c < keys_; ++c)
            written.push_back(scenarios::written_at(source.text, source.file, columns_[c].key));
    } catch (const InputError&) {
        return std::nullopt;
    }
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        bool same = keys_ > 0;
        for (std::size_t c = 0; c < keys_ && same; ++c) same = written[c] == rows_[row].values[c];
        if (same) return original_[row] ? original_[row] : row;
    }
    return std::nullopt;
}

std::size_t SweepTable::duplicates() const {
    return std::ranges::count_if(original_, [](const auto& of) { return of.has_value(); });
}

bool SweepTable::is_figure(std::size_t column) const {
    return column >= keys_ && column < keys_ + kFigures.size();
}

std::string SweepTable::text(std::size_t row, std::size_t column) const {
    const sim::SweepRow& r = rows_[row];
    if (column < keys_) return r.values[column];
    if (is_figure(column)) {
        const auto value = number(row, column);
        return value ? kFigures[column - keys_].text(*value) : std::string();
    }
    if (columns_[column].key == "fits") return state_of(r);
    return columns_[column].key == "unvalidated" ? r.unvalidated : r.reason;
}

std::optional<double> SweepTable::number(std::size_t row, std::size_t column) const {
    if (!columns_[column].numeric) return std::nullopt;
    if (!is_figure(column)) return parsed(rows_[row].values[column]);
    const double figure = rows_[row].figure(columns_[column].key);
    return std::isfinite(figure) ? std::optional(figure) : std::nullopt;
}

std::vector<std::size_t> SweepTable::order(std::size_t column, bool descending,
                                           const std::string& filter) const {
    std::vector<std::string> wanted;
    std::istringstream words(filter);
    for (std::string word; words >> word;) wanted.push_back(word);
    std::vector<std::size_t> order;
    for (std::size_t row = 0; row < rows_.size(); ++row)
        if (!original_[row] &&
            std::ranges::all_of(wanted, [&](const std::string& word) { return meets(row, word); }))
            order.push_back(row);
    if (column >= columns_.size()) return order;
    if (columns_[column].numeric) {
        const double last = std::numeric_limits<double>::infinity();
        std::vector<double> keys(rows_.size());
        for (const std::size_t row : order) {
            const auto value = number(row, column);
            keys[row] = !value ? last : descending ? -*value : *value;
        }
        std::ranges::stable_sort(order, {}, [&](std::size_t row) { return keys[row]; });
    } else {
        std::vector<std::string> keys(rows_.size());
        for (const std::size_t row : order) keys[row] = text(row, column);
        std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
            return descending ? keys[b] < keys[a] : keys[a] < keys[b];
        });
    }
    return order;
}

std::vector<std::size_t> SweepTable::best_first(const std::string& filter) const {
    std::vector<std::size_t> order =
        this->order(column_of("tokens_per_s"), true, filter);  // stable, values first
    std::ranges::stable_sort(order, {}, [&](std::size_t row) {
        return rows_[row].fits ? 0 : rows_[row].possible() ? 1 : 2;
    });
    return order;
}

std::string SweepTable::csv(std::span<const std::size_t> rows) const {
    std::vector<std::string> keys;
    for (std::size_t c = 0; c < keys_; ++c) keys.push_back(columns_[c].key);
    std::string text = text::write_csv_row(sim::csv_columns(keys));
    std::vector<sim::SweepRow> marked = rows_;
    sim::mark_duplicates(marked, keys);
    sim::mark_pareto(marked);
    for (const std::size_t i : rows) {
        text += text::write_csv_row(sim::csv_fields(marked[i]));
        for (std::size_t duplicate = 0; duplicate < rows_.size(); ++duplicate)
            if (original_[duplicate] == i)
                text += text::write_csv_row(sim::csv_fields(marked[duplicate]));
    }
    return text;
}

std::string ground_of_rows(const ScenarioText& swept, const ScenarioText& now,
                           const sim::Grid& grid) {
    if (swept.text == now.text) return {};
    const auto is_swept = [&](const std::string& key) {
        if (key == "sweep" || key.starts_with("sweep.")) return true;
        return std::ranges::any_of(grid.sweep.keys, [&](const scenarios::SweepKey& of) {
            return key == of.key || key.starts_with(of.key + '.') || of.key.starts_with(key + '.');
        });
    };
    std::string words;
    try {
        for (const auto& [key, value] :
             scenarios::changes_between(swept.text, now.text, swept.file)) {
            if (is_swept(key)) continue;
            const auto then = scenarios::written_at(swept.text, swept.file, key);
            words += fmt::format("{}{} {}", words.empty() ? "" : ", ", key,
                                 then.value_or(said("sweep", "as it follows")));
        }
    } catch (const InputError&) {  // an incomplete text is reported by its editor
    }
    return words;
}

std::vector<PlotPoint> points_of(const SweepTable& table, std::span<const std::size_t> rows,
                                 std::size_t x, std::size_t y) {
    std::vector<PlotPoint> points;
    for (const std::size_t row : rows) {
        const auto px = table.number(row, x);
        const auto py = table.number(row, y);
        if (px && py && table.rows()[row].possible())
            points.push_back({row, *px, *py, table.rows()[row].fits});
    }
    return points;
}

std::vector<std::size_t> frontier(std::span<const PlotPoint> points, Better x, Better y) {
    std::vector<std::size_t> best;
    if (x == Better::Neither || y == Better::Neither) return best;
    for (std::size_t i = 0; i < points.size(); ++i)
        if (points[i].fits) best.push_back(i);
    const auto cost = [](double value, Better better) {
        return better == Better::More ? -value : value;
    };
    const auto costs = [&](std::size_t i) {
        return std::pair{cost(points[i].x, x), cost(points[i].y, y)};
    };
    std::ranges::stable_sort(best, {}, costs);
    double least = std::numeric_limits<double>::infinity();
    std::erase_if(best, [&](std::size_t i) {  // sorted by x, best first: each must be better in y
        const double of_y = cost(points[i].y, y);
        if (of_y >= least) return true;
        least = of_y;
        return false;
    });
    std::ranges::sort(best, {}, [&](std::size_t i) { return points[i].x; });
    return best;
}

}  // namespace debubble::gui
