#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/read/read_scenario.h"
#include "sim/grid/grid.h"

namespace CLI {
class App;
}

namespace debubble::sim {

/// The arguments that `sweep` and `search` share.
struct GridArguments {
    std::string scenario;
    std::vector<std::string> set;
    int jobs = 0;
    bool any_schedule = false;
    std::vector<std::string> anchors;
    std::string by;      ///< a swept key; empty: none
    std::string tokens;  ///< training.tokens of every point; empty: as in the scenario
    std::string nodes;   ///< values of the swept key `nodes`, separated by commas; empty: none
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
void add_tokens_option(CLI::App& verb, std::string& tokens);
std::vector<scenarios::Override> parse_overrides(const std::vector<std::string>& texts,
                                                 const std::string& tokens);
std::vector<scenarios::Override> parse_overrides(const std::vector<std::string>& texts);

}  // namespace debubble::sim
