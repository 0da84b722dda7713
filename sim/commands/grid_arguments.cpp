#include "sim/commands/grid_arguments.h"

#include <CLI/CLI.hpp>

namespace debubble::sim {

void add_grid_arguments(CLI::App& verb, GridArguments& arguments) {
    verb.add_option("SCENARIO", arguments.scenario, "name or file of a scenario with a 'sweep:'")
        ->required();
    verb.add_option("--set", arguments.set,
                    "key=value for every point, as parallel.tensor=4; key= is the key's default")
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

}  // namespace debubble::sim
