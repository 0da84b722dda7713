#include "sim/grid/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/command_line/arguments.h"
#include "base/command_line/exit_status.h"
#include "base/command_line/progress_line.h"
#include "base/diagnostic.h"
#include "base/outputs.h"
#include "sim/commands/terminal/grid_verbs.h"
#include "sim/commands/terminal/output.h"
#include "sim/commands/terminal/progress_bar.h"
#include "sim/grid/compare_plans.h"
#include "sim/report/plan_json.h"
#include "sim/report/report.h"

/// `debubble search`: the best plan of a grid that fits in memory.
namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownOfMadeGrid = 10;
constexpr double kSameStep = 1e-6;  ///< relative: steps of one plan that is written in two ways

struct SearchArguments {
    GridArguments grid;
    std::string objective = "tokens_per_s";
    std::string json;
    std::optional<double> days;
    bool layouts = false;
    bool explain = false;
};

std::string ruled_out(const SearchResult& result) {
    std::string text = fmt::format(
        "{} points: {} played, {} too slow and {} too big by their bounds, {} "
        "impossible",
        result.points, result.predicted, result.too_slow, result.too_big, result.impossible);
    if (result.too_late > 0)
        text += fmt::format(", {} too late for --days by their bounds", result.too_late);
    if (result.late > 0)
        text += fmt::format("; {} of those played take longer than --days", result.late);
    if (result.lacking > 0)
        text += fmt::format(
            ", {} of schedules that the framework's software lacks "
            "(--any-schedule admits them)",
            result.lacking);
    return text;
}

/// The overrides that turn the scenario into the best plan.
std::string set_options(const SweepRow& best, const Grid& grid, const GridArguments& args) {
    std::string text = args.tokens ? fmt::format(" --tokens {}", *args.tokens) : "";
    for (const std::string& given : args.set) text += fmt::format(" --set '{}'", given);
    for (std::size_t i = 0; i < best.values.size(); ++i)
        text += fmt::format(" --set '{}={}'", grid.sweep.keys[i].key, best.values[i]);
    return text;
}

std::string duplicates_text(const SearchResult& result, const Grid& grid) {
    constexpr std::size_t kShown = 3;
    std::string text;
    const std::vector<std::string> keys = grid.keys();
    for (std::size_t i = 0; i < std::min(kShown, result.duplicates.size()); ++i)
        text += fmt::format("the same plan: {}\n",
                            difference_of(*result.best, result.duplicates[i], keys));
    if (result.duplicates.size() > kShown)
        text += fmt::format("and {} more points that make the same plan; --json lists them\n",
                            result.duplicates.size() - kShown);
    return text;
}

/// Unless plans are chosen by their memory, whose range is in the report.
NotApart not_apart(const SearchResult& result, const SearchArguments& args,
                   std::span<const std::string> keys) {
    if (parse_objective(args.objective) == Objective::PeakMemory) return {};
    std::vector<const SweepRow*> rows;
    for (const SweepRow& row : result.in_time()) rows.push_back(&row);
    return not_apart_from_best(rows, keys);
}

Json not_apart_json(const NotApart& plans, std::span<const std::string> keys) {
    Json points = Json::array();
    for (const SweepRow* row : plans.worth_measuring) {
        Json point;
        for (std::size_t i = 0; i < keys.size(); ++i) point[keys[i]] = row->values[i];
        points.push_back(std::move(point));
    }
    return {{"plans", plans.plans}, {"worth_measuring", std::move(points)}};
}

/// The plans of days against cost, where the whole training is requested.
Json frontier_json(const SearchResult& result, std::span<const std::string> keys) {
    Json points = Json::array();
    for (const SweepRow* row : run_frontier(result.played)) {
        Json point;
        for (std::size_t i = 0; i < keys.size(); ++i) point[keys[i]] = row->values[i];
        Json plan{{"point", std::move(point)}};
        for (const char* name : {"days", "days_p95", "goodput", "gpu_hours", "cost"}) {
            const double figure = row->figure(name);
            plan[name] = std::isnan(figure) ? Json(nullptr) : Json(figure);
        }
        points.push_back(std::move(plan));
    }
    return points;
}

/// The text about one best plan.
Json best_json(const SearchResult& result, const scenarios::Scenario& scenario,
               const PredictionWithTrace& prediction, const Grid& grid) {
    Json point;
    for (std::size_t i = 0; i < result.best->values.size(); ++i)
        point[grid.sweep.keys[i].key] = result.best->values[i];
    Json duplicates = Json::array();
    const std::vector<std::string> keys = grid.keys();
    for (const SweepRow& duplicate : result.duplicates)
        duplicates.push_back(difference_of(*result.best, duplicate, keys));
    return {{"plan", plan_json(scenario)},
            {"point", point},
            {"points", result.points},
            {"predicted", result.predicted},
            {"twins", std::move(duplicates)},
            {"unvalidated", result.best->unvalidated},
            {"prediction", report_json(prediction)}};
}

PredictionWithTrace predict_best(const Grid& grid, const scenarios::Scenario& scenario) {
    ProgressLine line(is_quiet());
    PredictOptions how;
    how.choosing = [&](std::size_t done, std::size_t all) { line.show(choices_words(done, all)); };
    PredictionWithTrace best = predict(scenario, how);
    if (grid.correction) grid.correction->add(scenario, best.prediction);
    return best;
}

/// Searches some points of the grid. Ends by the signal that stopped it, if any.
SearchResult searched(const Grid& grid, const SearchArguments& args,
                      std::span<const std::size_t> points, std::size_t ranks = 1) {
    const Objective objective = parse_objective(args.objective);
    Interruption interruption;
    SearchResult result;
    {
        ProgressBar bar;
        ChoiceLine choices;
        BatchOptions options;
        options.jobs = args.grid.jobs;
        options.stop = &interruption.flag();
        options.most_days = args.days;
        options.progress = [&](std::size_t done, std::size_t total) {
            bar.show(done, total);
            choices.point_done(done, total);
        };
        options.choosing = [&](std::size_t done, std::size_t all) { choices.show(done, all); };
        result = search(grid, points, objective, options, ranks);
    }
    if (!result.finished) interruption.end_by_signal();
    return result;
}

/// The best plan for each value of a swept key.
ExitStatus search_by(const Grid& grid, const SearchArguments& args) {
    const std::size_t key = place_of_swept_key(grid, *args.grid.by);
    std::vector<SearchResult> results;
    for (std::size_t value = 0; value < grid.sweep.keys[key].values.size(); ++value)
        results.push_back(searched(grid, args, points_with(grid, key, value)));
    std::vector<const SweepRow*> best;
    Json all = Json::array();
    std::string commands;
    for (const SearchResult& result : results) {
        best.push_back(result.best ? &*result.best : nullptr);
        if (!result.best) continue;
        commands += fmt::format("debubble simulate {}{}\n", args.grid.scenario,
                                set_options(*result.best, grid, args.grid));
        if (args.json.empty()) continue;
        const scenarios::Scenario scenario = grid.instantiate(result.best->index);
        all.push_back(best_json(result, scenario, predict(scenario), grid));
    }
    if (!args.json.empty()) {
        Json json = schema_json("search-by");
        json.update({{"objective", args.objective}, {"by", *args.grid.by}, {"best", all}});
        write_output(args.json, json.dump(2) + "\n");
    }
    const bool any = std::ranges::any_of(results, [](const auto& r) { return r.best.has_value(); });
    if (args.json != "-")
        print_report(fmt::format(
            "best by {} for each {}:\n{}\n{}", args.objective, *args.grid.by,
            best_by_text(
                best, grid, key,
                args.days ? fmt::format("fits and ends within {} days", *args.days) : "fits"),
            commands));
    return any ? ExitStatus::Done : ExitStatus::No;
}

/// The best plan; for a generated grid, the ten best.
std::vector<const SweepRow*> shown_of(const SearchResult& result, std::size_t shown) {
    std::vector<const SweepRow*> rows;
    for (const SweepRow& row : result.in_time())
        if (rows.size() < shown) rows.push_back(&row);
    return rows;
}

std::string words_of_made(std::span<const std::string> left_out) {
    return fmt::format(
        "\nthe grid is made of what the network and the machine allow, as there is no 'sweep:'; "
        "left out: {}",
        fmt::join(left_out, "; "));
}

/// What the scenario does as it is written, where that is better than what the made grid has, or
/// where nothing of that fits: some of its keys are then beyond the grid.
std::string as_written(const SearchArguments& args, const SweepRow* best) {
    const Objective objective = parse_objective(args.objective);
    if (objective == Objective::PeakMemory || is_of_run(objective)) return {};
    try {
        PredictOptions how;
        how.keep_trace = how.explain = false;
        const Prediction own =
            predict(scenarios::read_scenario(args.grid.scenario,
                                             parse_overrides(args.grid.set, args.grid.tokens)),
                    how)
                .prediction;
        const bool is_best =
            best == nullptr || own.mean_step_s() < best->figure("step_time_s") * (1 - kSameStep);
        if (!own.fits || !is_best) return {};
        return fmt::format(
            "as it is written, the scenario takes {:.4g} s a step and fits: its keys are beyond "
            "what the grid tries{}\n",
            own.mean_step_s(), best == nullptr ? "" : ", and better than its best");
    } catch (const InputError&) {  // it needs other cuts
    } catch (const scenarios::InvalidSchedule&) {
    }
    return {};
}

ExitStatus carry_out(const SearchArguments& args) {
    if (args.layouts && args.grid.by)
        throw InputError(
            "--by needs a grid, and --layouts searches a single scenario: give only one");
    if (args.days && !is_of_run(parse_objective(args.objective)))
        throw InputError("--days is for --objective cost or days");
    if (args.layouts) return search_and_print_layouts(args.grid, args.json);
    const auto [grid, left_out] = read_or_make_grid(args.grid);
    Outputs outputs;
    outputs.add("--json", args.json);
    outputs.check();
    if (args.grid.by) return search_by(grid, args);
    const std::size_t shown = left_out ? kShownOfMadeGrid : 1;
    const SearchResult result = searched(grid, args, grid.points, shown);
    if (!result.best) {
        fmt::print(stderr, "no plan of the grid fits{} ({})\n",
                   result.too_late + result.late > 0
                       ? fmt::format(" and ends within {} days", *args.days)
                       : "",
                   ruled_out(result));
        if (left_out) fmt::print(stderr, "{}", as_written(args, nullptr));
        if (args.json != "-") print_report(run_frontier_text(result.played, grid));
        return ExitStatus::No;
    }
    const scenarios::Scenario scenario = grid.instantiate(result.best->index);
    const PredictionWithTrace prediction = predict_best(grid, scenario);
    if (!args.json.empty()) {
        Json json = schema_json("search");
        json["objective"] = args.objective;
        if (left_out) json["left_out"] = *left_out;
        if (is_of_run(parse_objective(args.objective)))
            json["frontier"] = frontier_json(result, grid.keys());
        if (left_out) json["as_written"] = as_written(args, &*result.best);
        json["not_apart"] = not_apart_json(not_apart(result, args, grid.keys()), grid.keys());
        json.update(best_json(result, scenario, prediction, grid));
        write_output(args.json, json.dump(2) + "\n");
    }
    if (args.json == "-") return ExitStatus::Done;
    const std::vector<const SweepRow*> best = shown_of(result, shown);
    const std::vector<std::string> keys = grid.keys();
    const ReportOptions style{.color = is_terminal(stdout), .explain = args.explain};
    print_report(fmt::format(
        "{}{}\n\nbest by {}:\n{}{}{}{}{}\ndebubble simulate {}{}\n\n{}", ruled_out(result),
        left_out ? words_of_made(*left_out) : std::string(), args.objective, table_of(best, grid),
        left_out ? as_written(args, &*result.best) : std::string(),
        run_frontier_text(result.played, grid), duplicates_text(result, grid),
        not_apart_text(
            not_apart(result, args, keys), keys,
            fmt::format("of the {} plans that were played and fit", result.in_time().size())),
        args.grid.scenario, set_options(*result.best, grid, args.grid),
        report_text(scenario, prediction, style)));
    return ExitStatus::Done;
}

constexpr const char* kSearchFooter =
    R"(The grid is the scenario's 'sweep:' map; without one it is made of what the network and the
machine allow, but for the keys of --set, and the ten best are shown. The plan is the one that a full sweep would find; plans
whose bound cannot win are not played, and those whose schedule the framework's software lacks are
left out unless --any-schedule admits them. Exit code 1 if no plan fits. With --layouts no grid is
needed: the scenario's layers are cut into stages in other ways, and the best cut is shown beside
the uniform and the balanced one; if none fits, the fastest and the one that needs the least memory.

Examples:
  debubble search mine.yaml
  debubble search mine.yaml --objective peak_memory --json best.json
  debubble search mine.yaml --by framework.dispatcher
  debubble search mine.yaml --tokens 15T --nodes 512,1024,2048 --days 60 --objective cost)";

}  // namespace

void add_search(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<SearchArguments>();
    CLI::App* verb = program.add_subcommand("search", "find the best plan of a grid that fits");
    add_grid_arguments(*verb, args->grid);
    verb->add_option("--objective", args->objective,
                     fmt::format("{}", fmt::join(objective_names(), ", ")))
        ->capture_default_str();
    verb->add_option("--days", args->days,
                     "maximum number of days of the whole training, in the median of drawn runs")
        ->check(real_number(0.001, 1e6))
        ->type_name("NUMBER");
    verb->add_option("--json", args->json, "write the best plan as JSON; - is standard output");
    verb->add_flag("--layouts", args->layouts,
                   "search over cuts of the layers into stages instead of a grid");
    verb->add_flag("--explain", args->explain,
                   "end the report with the definitions of its figures");
    add_style_options(*verb);
    verb->footer(kSearchFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::sim
