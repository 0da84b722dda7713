#include "sim/commands/terminal/grid_verbs.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/units.h"
#include "sim/grid/compare_plans.h"
#include "text/wording.h"

namespace debubble::sim {
namespace {

using Cells = std::vector<std::string>;

constexpr std::size_t kNumbers = 9;  ///< columns of figures, from the throughput to the Pareto
                                     ///< frontier

std::string share(double part) {
    return std::isnan(part) ? "-" : text::percent(part);
}

std::string gib_cell(double bytes) {
    return fmt::format("{:.2f} GiB", bytes / kGiB);
}

/// The memory left, or its upper bound where the allocator was not simulated.
std::string left_cell(const SweepRow& row) {
    const double left = row.figure("memory_left_bytes");
    if (std::isnan(left)) return "< " + gib_cell(row.figure("memory_left_of_requested_bytes"));
    return gib_cell(left) + (row.surely_fits() ? "" : ", cannot be told");
}

/// The swept keys of a table, by their indices: those with several values are columns, unless all
/// of several rows have the same value.
struct ShownKeys {
    std::vector<std::size_t> columns;
    std::vector<std::size_t> common;
};

ShownKeys shown_keys(std::span<const SweepRow* const> rows, const Grid& grid) {
    ShownKeys shown;
    for (std::size_t i = 0; i < grid.sweep.keys.size(); ++i) {
        if (grid.sweep.keys[i].values.size() == 1 && grid.points.size() > 1) continue;
        const bool differs = std::ranges::any_of(
            rows, [&](const SweepRow* row) { return row->values[i] != rows.front()->values[i]; });
        (differs || rows.size() == 1 ? shown.columns : shown.common).push_back(i);
    }
    return shown;
}

/// "all with parallel.order tp-cp-ep-dp-pp, schedule 1f1b", a line above a table.
std::string common_text(const SweepRow& row, std::span<const std::size_t> common,
                        const Grid& grid) {
    std::string text;
    for (const std::size_t key : common)
        text += fmt::format("{}{} {}", text.empty() ? "all with " : ", ", grid.sweep.keys[key].key,
                            printable(row.values[key]));
    return text.empty() ? text : text + '\n';
}

Cells cells_of(const SweepRow& row, std::span<const std::size_t> keys) {
    Cells cells;
    for (const std::size_t key : keys) cells.push_back(printable(row.values[key]));
    const double step = row.figure("step_time_s");
    cells.push_back(fmt::format("{:.6g}", row.figure("tokens_per_s")));
    cells.push_back(fmt::format("{:.4g} s", step));
    cells.push_back(share(row.figure("mfu")));
    cells.push_back(share(row.figure("mfu_causal")));
    cells.push_back(share(row.figure("bubble")));
    cells.push_back(share(row.figure("exposed_comm_s") / step));
    cells.push_back(gib_cell(row.figure("peak_memory_bytes")));
    cells.push_back(left_cell(row));
    cells.push_back(row.pareto.value_or(false) ? "yes" : "");
    return cells;
}

std::string aligned(const std::vector<Cells>& table, std::size_t left_columns) {
    std::vector<std::size_t> widths(table.front().size());
    for (const Cells& cells : table)
        for (std::size_t i = 0; i < cells.size(); ++i)
            widths[i] = std::max(widths[i], cells[i].size());
    std::string text;
    for (const Cells& cells : table) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const bool left = i < left_columns || i >= left_columns + kNumbers;
            line += left ? fmt::format("{:<{}}  ", cells[i], widths[i])
                         : fmt::format("{:>{}}  ", cells[i], widths[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

Cells features_of(const SweepRow& row) {
    Cells features;
    std::string_view rest = row.unvalidated;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find("; "), rest.size());
        features.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    return features;
}

bool holds(const Cells& features, const std::string& feature) {
    return std::ranges::find(features, feature) != features.end();
}

/// The features of the first row that all rows share.
Cells unvalidated_in_all(std::span<const SweepRow* const> rows) {
    Cells common = features_of(*rows.front());
    for (const SweepRow* row : rows.subspan(1)) {
        const Cells features = features_of(*row);
        std::erase_if(common, [&](const std::string& f) { return !holds(features, f); });
    }
    return common;
}

}  // namespace

std::string table_of(std::span<const SweepRow* const> rows, const Grid& grid) {
    const auto [keys, common_keys] = shown_keys(rows, grid);
    std::vector<Cells> table(1);
    for (const std::size_t key : keys) table.front().push_back(grid.sweep.keys[key].key);
    for (const char* title : {"tokens/s", "step", "MFU", "causal", "bubble", "exposed",
                              "peak memory", "left", "Pareto", "unvalidated"})
        table.front().emplace_back(title);
    const Cells common = unvalidated_in_all(rows);
    for (const SweepRow* row : rows) {
        Cells own = features_of(*row);
        std::erase_if(own, [&](const std::string& f) { return holds(common, f); });
        table.push_back(cells_of(*row, keys));
        table.back().push_back(fmt::format("{}", fmt::join(own, ", ")));
    }
    const auto nothing = [](const Cells& cells) { return cells.back().empty(); };
    if (std::ranges::all_of(table.begin() + 1, table.end(), nothing))
        for (Cells& cells : table) cells.pop_back();
    std::string text = common_text(*rows.front(), common_keys, grid) + aligned(table, keys.size());
    if (!common.empty())
        text += fmt::format("unvalidated{}: {}\n", rows.size() > 1 ? " in all of them" : "",
                            fmt::join(common, ", "));
    return text;
}

std::string run_frontier_text(std::span<const SweepRow> rows, const Grid& grid) {
    const std::vector<const SweepRow*> frontier = run_frontier(rows);
    if (frontier.empty()) return {};
    const auto [keys, common] = shown_keys(frontier, grid);
    std::vector<Cells> table(1);
    for (const std::size_t key : keys) table.front().push_back(grid.sweep.keys[key].key);
    for (const char* title :
         {"days", "P95", "goodput", "GPU hours", "cost", "energy", "save every"})
        table.front().emplace_back(title);
    for (const SweepRow* row : frontier) {
        Cells cells;
        for (const std::size_t key : keys) cells.push_back(printable(row->values[key]));
        const auto cell = [&](const char* name, const char* unit, double scale = 1) {
            const double figure = row->figure(name);
            cells.push_back(std::isnan(figure) ? "-"
                                               : fmt::format("{:.4g}{}", figure * scale, unit));
        };
        cell("days", "");
        cell("days_p95", "");
        cells.push_back(share(row->figure("goodput")));
        cells.push_back(text::rate_text(row->figure("gpu_hours")));
        const double cost = row->figure("cost");
        cells.push_back(std::isnan(cost) ? "-" : text::rate_text(cost));
        cell("energy_mwh", " MWh");
        cell("save_every_s", " min", 1.0 / 60);
        table.push_back(std::move(cells));
    }
    return fmt::format("\ndays against cost, of {} plans that were played and fit:\n{}{}",
                       rows.size(), common_text(*frontier.front(), common, grid),
                       aligned(table, keys.size()));
}

std::string best_by_text(std::span<const SweepRow* const> best, const Grid& grid, std::size_t key,
                         std::string_view does) {
    std::vector<const SweepRow*> rows;
    std::vector<std::string> without;
    for (std::size_t i = 0; i < best.size(); ++i)
        if (best[i] != nullptr)
            rows.push_back(best[i]);
        else
            without.push_back(printable(grid.sweep.keys[key].values[i]));
    std::string text =
        rows.empty() ? std::string() : table_of(std::span<const SweepRow* const>(rows), grid);
    if (!without.empty())
        text += fmt::format("no plan {} with {} {}\n", does, grid.sweep.keys[key].key,
                            fmt::join(without, ", "));
    return text;
}

std::string lacking_text(std::size_t points) {
    if (points == 0) return {};
    return fmt::format(
        "{} {} for a schedule that the framework's software lacks: --any-schedule "
        "admits {}\n",
        points, points == 1 ? "point asks" : "points ask", points == 1 ? "it" : "them");
}

std::string duplicates_text(const std::vector<SweepRow>& rows, std::span<const std::string> keys) {
    const auto duplicates = duplicates_in(rows);
    std::size_t count = 0;
    std::vector<std::size_t> by_key(keys.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!duplicates[i] || !rows[i].fits) continue;
        ++count;
        for (std::size_t k = 0; k < keys.size(); ++k)
            by_key[k] += rows[i].values[k] != rows[*duplicates[i]].values[k] ? 1 : 0;
    }
    if (count == 0) return {};
    std::string text;
    for (std::size_t k = 0; k < keys.size(); ++k)
        if (by_key[k] > 0)
            text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", keys[k], by_key[k]);
    return fmt::format(
        "{} of those that fit {} of others (the same program with the same figures), left out "
        "below; the keys that make no difference are {}\n",
        count, count == 1 ? "is a duplicate" : "are duplicates", text);
}

}  // namespace debubble::sim
