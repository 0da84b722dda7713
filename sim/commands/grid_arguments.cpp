#include "sim/commands/grid_arguments.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/units.h"

namespace debubble::sim {
namespace {

std::string percent(double share) {
    return std::isnan(share) ? "-" : fmt::format("{:.1f} %", 100 * share);
}

std::vector<std::string> cells_of(const SweepRow& row) {
    std::vector<std::string> cells = row.values;
    cells.push_back(fmt::format("{:.6g}", row.figure("tokens_per_s")));
    cells.push_back(fmt::format("{:.4g} s", row.figure("step_time_s")));
    cells.push_back(percent(row.figure("mfu")));
    cells.push_back(percent(row.figure("bubble")));
    cells.push_back(fmt::format("{:.2f} GiB", row.figure("peak_memory_bytes") / kGiB));
    cells.push_back(row.pareto == "true" ? "yes" : "");
    return cells;
}

}  // namespace

void add_grid_arguments(CLI::App& verb, GridArguments& arguments) {
    verb.add_option("SCENARIO", arguments.scenario, "name or file of a scenario with a 'sweep:'")
        ->required();
    verb.add_option("--set", arguments.set, "key=value for every point, as parallel.tensor=4")
        ->allow_extra_args(false);
    verb.add_option("-j,--jobs", arguments.jobs, "threads (default: one per core)")
        ->check(CLI::Range(1, 4096));
}

std::vector<scenarios::Override> parse_overrides(const std::vector<std::string>& texts) {
    std::vector<scenarios::Override> overrides;
    for (const std::string& text : texts) overrides.push_back(scenarios::parse_override(text));
    return overrides;
}

Grid read_grid(const GridArguments& arguments) {
    return {arguments.scenario, parse_overrides(arguments.set)};
}

std::string table_of(std::span<const SweepRow* const> rows, const Grid& grid) {
    std::vector<std::vector<std::string>> table(1);
    for (const auto& key : grid.sweep.keys) table.front().push_back(key.key);
    const std::size_t keys = table.front().size();
    for (const char* title : {"tokens/s", "step", "MFU", "bubble", "peak memory", "Pareto"})
        table.front().emplace_back(title);
    for (const SweepRow* row : rows) table.push_back(cells_of(*row));

    std::vector<std::size_t> widths(table.front().size());
    for (const auto& cells : table)
        for (std::size_t i = 0; i < cells.size(); ++i)
            widths[i] = std::max(widths[i], cells[i].size());
    std::string text;
    for (const auto& cells : table) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i)
            line += i < keys ? fmt::format("{:<{}}  ", cells[i], widths[i])
                             : fmt::format("{:>{}}  ", cells[i], widths[i]);
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

}  // namespace debubble::sim
