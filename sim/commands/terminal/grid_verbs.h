#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/command_line/exit_status.h"
#include "scenarios/read/read_scenario.h"
#include "sim/grid/grid.h"

namespace CLI {
class App;
}

/// The arguments and tables of the verbs that deal with grids of plans.
namespace debubble::sim {

/// The arguments that `sweep` and `search` share.
struct GridArguments {
    std::string scenario;
    std::vector<std::string> set;
    std::optional<int> jobs;  ///< number of threads; unset: one per core
    bool any_schedule = false;
    std::vector<std::string> anchors;
    std::optional<std::string> by;      ///< a swept key
    std::optional<std::string> tokens;  ///< training.tokens of every point; else the scenario's
    std::optional<std::string> nodes;   ///< values of the swept key `nodes`, separated by commas
};

void add_grid_arguments(CLI::App& verb, GridArguments& arguments);
/// The scenario's own grid.
Grid read_grid(const GridArguments& arguments);
/// The same, or one generated from the network and the machine where the scenario has none.
struct ReadGrid {
    Grid grid;
    std::optional<std::vector<std::string>> left_out;  ///< of a generated grid
};
ReadGrid read_or_make_grid(const GridArguments& arguments);

/// The override that `--tokens` stands for; nothing if it was not given.
void add_tokens_option(CLI::App& verb, std::optional<std::string>& tokens);
std::vector<scenarios::Override> parse_overrides(const std::vector<std::string>& texts,
                                                 const std::optional<std::string>& tokens);
std::vector<scenarios::Override> parse_overrides(const std::vector<std::string>& texts);

/// A line for each row: swept keys, throughput, and the figures that distinguish plans: bubble,
/// exposed communication as a share of the step, memory held and left. Keys with one value in all
/// of several rows are named above the table. Features that are
/// unvalidated in some of the rows are named in their lines, those that are unvalidated in all rows
/// below.
std::string table_of(std::span<const SweepRow* const> rows, const Grid& grid);

/// The plans of days against cost, the fastest first; empty unless the whole training is requested.
std::string run_frontier_text(std::span<const SweepRow> rows, const Grid& grid);

/// A table of the best row for each value of a swept key, and in a sentence the values for which no
/// plan `does` what is asked. `best` is in the order of the values, null where there is none.
std::string best_by_text(std::span<const SweepRow* const> best, const Grid& grid, std::size_t key,
                         std::string_view does = "fits");

/// The number of points whose schedule the framework's software lacks, in a sentence; empty if
/// there are none.
std::string lacking_text(std::size_t points);

/// The number of fitting rows that are duplicates of others, and for how many of them each key
/// makes no difference: one sentence, or nothing if there are none.
std::string duplicates_text(const std::vector<SweepRow>& rows, std::span<const std::string> keys);

/// `debubble search --layouts`: the best cut of the layers of one scenario, compared with the
/// uniform one; where none fits, the fastest and the smallest.
ExitStatus search_and_print_layouts(const GridArguments& arguments, const std::string& json);

}  // namespace debubble::sim
