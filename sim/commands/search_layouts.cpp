#include "sim/commands/terminal/grid_verbs.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/command_line/progress_line.h"
#include "base/outputs.h"
#include "scenarios/read/read_scenario.h"
#include "sim/commands/terminal/output.h"
#include "sim/grid/layout_search.h"
#include "sim/report/plan_json.h"
#include "sim/report/report.h"
#include "text/wording.h"

namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;

Bytes most_memory(const Prediction& prediction) {
    Bytes most;
    for (const RankPrediction& rank : prediction.ranks) most = std::max(most, rank.peak_memory);
    return most;
}

std::string table_of(const LayoutSearch& search) {
    const text::TimeUnit unit = text::unit_of(search.rows.front().prediction.step_time_s);
    std::string text = fmt::format("{:<10}{:>11}{:>9}{:>10}  {:<16}{}\n", "", "step", "bubble",
                                   "peak GiB", "memory", "layout");
    for (const LayoutRow& row : search.rows) {
        const Prediction& p = row.prediction;
        text += fmt::format("{:<10}{:>11}{:>9}{:>10}  {:<16}{}\n", row.name,
                            text::time_text(p.step_time_s, unit), text::percent(p.bubble),
                            text::gib_text(most_memory(p)), fits_text(p), row.layout);
        if (p.recompute) text += fmt::format("{:<10}  recompute {}\n", "", p.recompute->words);
    }
    return text;
}

Json json_of(const LayoutSearch& search) {
    Json rows = Json::array();
    for (const LayoutRow& row : search.rows) {
        const Prediction& p = row.prediction;
        rows.push_back({{"name", row.name},
                        {"layout", row.layout},
                        {"layers_per_stage", row.layers_per_stage},
                        {"step_time_s", p.step_time_s},
                        {"bubble", p.bubble},
                        {"peak_memory_bytes", most_memory(p).count},
                        {"fits", p.fits}});
        if (p.recompute) rows.back()["recompute"] = p.recompute->words;
    }
    Json json = schema_json("layouts");
    json.update({{"played", search.tried},
                 {"all", search.all},
                 {"fits", search.fits},
                 {"layouts", std::move(rows)}});
    return json;
}

/// The command that shows details of the cut.
std::string command_of(const scenarios::Scenario& scenario, const std::string& name,
                       const LayoutRow& row) {
    const std::string layout = scenario.parallel.layout ? " --set parallel.layout=" : "";
    return fmt::format("debubble simulate {}{} --set 'parallel.partition=[{}]'\n", name, layout,
                       fmt::join(row.layers_per_stage, ", "));
}

/// The result, and the command to see it.
std::string verdict(const scenarios::Scenario& scenario, const std::string& name,
                    const LayoutSearch& search) {
    const LayoutRow& last = search.rows.back();
    if (search.fits) return command_of(scenario, name, last);
    const LayoutRow& fastest = search.rows[search.rows.size() - 2];
    std::string text = fmt::format("no cut fits: the smallest exceeds the memory by {} GiB{}\n",
                                   text::gib_text(Bytes{-last.prediction.memory_left.count}),
                                   fastest.layers_per_stage == last.layers_per_stage
                                       ? ", and it is the fastest too"
                                       : "; the fastest, then the smallest:");
    if (fastest.layers_per_stage != last.layers_per_stage)
        text += command_of(scenario, name, fastest);
    return text + command_of(scenario, name, last);
}

std::string how_searched(const LayoutSearch& search) {
    if (search.all) return "every possible cut";
    return search.fits ? "moving one layer does not improve the best cut"
                       : "moving one layer makes neither the fastest cut faster nor the "
                         "smallest smaller";
}

LayoutSearch search_with_progress(const scenarios::Scenario& scenario, int jobs) {
    ProgressLine line(is_quiet());
    std::atomic<std::size_t> cuts{0};
    LayoutProgress progress;
    progress.tried = [&](std::size_t tried) {
        cuts = tried;
        line.show(fmt::format("{} cuts tried", tried));
    };
    progress.choosing = [&](std::size_t done, std::size_t all) {
        line.show(fmt::format("{} cuts tried; {}", cuts.load(), choices_words(done, all)));
    };
    return search_layouts(scenario, jobs, progress);
}

}  // namespace

ExitStatus search_and_print_layouts(const GridArguments& arguments, const std::string& json) {
    const scenarios::Scenario scenario =
        scenarios::read_scenario(arguments.scenario, parse_overrides(arguments.set));
    Outputs outputs;
    outputs.add("--json", json);
    outputs.check();
    const LayoutSearch search = search_with_progress(scenario, arguments.jobs.value_or(0));
    if (!json.empty()) write_output(json, json_of(search).dump(2) + "\n");
    if (json != "-")
        print_report(fmt::format("{} cuts of {} layers into {} stages were tried: {}\n\n{}\n{}",
                                 search.tried, scenario.model.layers.count(),
                                 search.rows.back().layers_per_stage.size(), how_searched(search),
                                 table_of(search), verdict(scenario, arguments.scenario, search)));
    return search.fits ? ExitStatus::Done : ExitStatus::No;
}

}  // namespace debubble::sim
