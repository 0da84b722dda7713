#include "sim/commands/search_layouts.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/outputs.h"
#include "scenarios/read_scenario.h"
#include "sim/commands/output.h"
#include "sim/commands/style.h"
#include "sim/grid/layout_search.h"
#include "sim/report/plan_json.h"
#include "sim/report/report_text.h"
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
    json.update({{"played", search.played}, {"all", search.all}, {"layouts", std::move(rows)}});
    return json;
}

/// The keys that give the scenario this cut.
std::string set_options(const scenarios::Scenario& scenario, const LayoutRow& best) {
    const std::string layout = scenario.parallel.layout.empty() ? "" : " --set parallel.layout=";
    return fmt::format("{} --set 'parallel.partition=[{}]'", layout,
                       fmt::join(best.layers_per_stage, ", "));
}

}  // namespace

ExitStatus search_and_print_layouts(const GridArguments& arguments, const std::string& json) {
    const scenarios::Scenario scenario =
        scenarios::read_scenario(arguments.scenario, parse_overrides(arguments.set));
    Outputs outputs;
    outputs.add("--json", json);
    outputs.check();
    const LayoutSearch search = search_layouts(scenario, arguments.jobs);
    const LayoutRow& best = search.rows.back();
    if (!json.empty()) write_output(json, json_of(search).dump(2) + "\n");
    if (json != "-")
        print_report(fmt::format(
            "{} cuts of {} layers into {} stages were played: {}\n\n{}\ndebubble simulate {}{}\n",
            search.played, scenario.model.layers.count(), best.layers_per_stage.size(),
            search.all ? "all that there are" : "no move of one layer makes the best one better",
            table_of(search), arguments.scenario, set_options(scenario, best)));
    return best.prediction.fits ? ExitStatus::Done : ExitStatus::No;
}

}  // namespace debubble::sim
