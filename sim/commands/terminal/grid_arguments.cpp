#include "sim/commands/terminal/grid_verbs.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/diagnostic.h"
#include "base/file.h"
#include "sim/anchor/anchor.h"
#include "sim/commands/terminal/output.h"
#include "sim/grid/first_grid.h"
#include "sim/grid/search.h"

namespace debubble::sim {
namespace {

/// Plans are compared by the loads that a person plans for, which random draws would blur.
void say_even_loads(const Grid& grid) {
    if (is_quiet()) return;
    try {
        const scenarios::Scenario first = grid.instantiate(grid.points.front());
        if (!sweeps_loads(grid) && !first.imbalance.any()) return;
        fmt::print(stderr, "plans are compared {}\n",
                   sweeps_loads(grid)         ? "by their drawn steps, as loads are swept"
                   : draws_steps(grid, first) ? "by their drawn steps, which pack documents"
                   : first.imbalance.documents
                       ? "under even loads: the documents of 'imbalance' count by their mean, and "
                         "the rest of it is left out"
                   : first.imbalance.draws_routers()
                       ? "by the steps of mean loads, and by the memory of the drawn ones"
                       : "under even loads: 'imbalance' is left out");
    } catch (const InputError&) {
        return;  // an impossible plan, whose row has the reason
    }
}

/// The key `nodes` of --nodes.
std::vector<scenarios::SweepKey> swept_nodes(const GridArguments& arguments) {
    if (!arguments.nodes) return {};
    return scenarios::parse_sweep(fmt::format("sweep: {{nodes: [{}]}}", *arguments.nodes),
                                  "--nodes")
        .keys;
}

void anchor(Grid& grid, const GridArguments& arguments) {
    const auto by = std::make_shared<const AnchoredBy>(
        read_anchor(arguments.anchors, scenarios::read_scenario(arguments.scenario)));
    correct_by(grid, by);
    if (is_quiet()) return;
    fmt::print(stderr, "all plans are corrected by the measured one{}{}\n",
               by->time_ratio()
                   ? fmt::format(", which took {:.3f} times its prediction", *by->time_ratio())
                   : "",
               by->memory_ratio() ? fmt::format(", and {:.3f} times the memory besides its "
                                                "parameters and optimizer state",
                                                *by->memory_ratio())
                                  : "");
}

/// Sets an option's value; an empty one, as of a shell's unset variable, is none.
auto unless_empty(std::optional<std::string>& value) {
    return [&value](const std::string& given) {
        if (!given.empty()) value = given;
    };
}

}  // namespace

void add_grid_arguments(CLI::App& verb, GridArguments& arguments) {
    verb.add_option("SCENARIO", arguments.scenario, "name or file of a scenario")->required();
    verb.add_option(
            "--set", arguments.set,
            "key=value for every point, as parallel.tensor=4; key=null is the key's default")
        ->allow_extra_args(false);
    add_tokens_option(verb, arguments.tokens);
    verb.add_option_function<std::string>(
            "--nodes", unless_empty(arguments.nodes),
            "numbers of nodes to sweep over, as 512,1024,2048, in addition to the grid's keys")
        ->type_name("LIST");
    verb.add_option("-j,--jobs", arguments.jobs, "threads (default: one per core)")
        ->check(CLI::Range(1, 4096));
    verb.add_flag("--any-schedule", arguments.any_schedule,
                  "admit schedules that the framework's software lacks (framework.schedules)");
    verb.add_option("--anchor", arguments.anchors,
                    "a measured step of the scenario's own plan, or of a file's (`debubble "
                    "simulate --help`): corrects every plan of the grid; may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false);
    verb.add_option_function<std::string>("--by", unless_empty(arguments.by),
                                          "also the best plan for each value of this swept key")
        ->type_name("KEY");
}

std::vector<scenarios::Override> parse_overrides(const std::vector<std::string>& texts) {
    std::vector<scenarios::Override> overrides;
    for (const std::string& text : texts) overrides.push_back(scenarios::parse_override(text));
    return overrides;
}

void add_tokens_option(CLI::App& verb, std::optional<std::string>& tokens) {
    verb.add_option_function<std::string>(
            "--tokens", unless_empty(tokens),
            "tokens of the whole training, as 15T: also its days, cost and energy "
            "(training.tokens, in place of steps and epochs)")
        ->type_name("COUNT");
}

std::vector<scenarios::Override> parse_overrides(const std::vector<std::string>& texts,
                                                 const std::optional<std::string>& tokens) {
    std::vector<scenarios::Override> overrides = parse_overrides(texts);
    if (!tokens) return overrides;
    for (const auto& [key, value] : overrides)
        for (const char* other : {"training.steps", "training.epochs", "training.tokens"})
            if (key == other && value != "null")
                throw InputError(fmt::format("--tokens and --set {}: give only one", other));
    for (const char* other : {"training.steps", "training.epochs"})
        overrides.emplace_back(other, "null");
    overrides.emplace_back("training.tokens", *tokens);
    return overrides;
}

namespace {

/// Applies the arguments to a grid that was read.
Grid with_arguments(Grid grid, const GridArguments& arguments) {
    grid.any_schedule = arguments.any_schedule;
    grid.basis.emplace("--any-schedule", arguments.any_schedule ? "given" : "not given");
    if (arguments.by) (void)place_of_swept_key(grid, *arguments.by);  // may be misspelt
    say_even_loads(grid);
    if (arguments.anchors.empty())
        leave_uncorrected(grid);
    else
        anchor(grid, arguments);
    return grid;
}

}  // namespace

Grid read_grid(const GridArguments& arguments) {
    return with_arguments(Grid(arguments.scenario, parse_overrides(arguments.set, arguments.tokens),
                               swept_nodes(arguments)),
                          arguments);
}

ReadGrid read_or_make_grid(const GridArguments& arguments) {
    const std::string file = scenarios::find_scenario(arguments.scenario).string();
    const std::string text = read_file(file);
    if (arguments.nodes || has_grid(text, file)) return {read_grid(arguments), std::nullopt};
    MadeGrid made = made_grid(text, file, parse_overrides(arguments.set, arguments.tokens));
    return {with_arguments(std::move(made.grid), arguments), std::move(made.left_out)};
}

}  // namespace debubble::sim
