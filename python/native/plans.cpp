#include <atomic>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "python/native/request.h"
#include "python/native/verbs.h"
#include "sim/anchor/anchor.h"
#include "sim/commands/plan_pages.h"
#include "sim/explain/plan_run.h"
#include "sim/grid/compare_plans.h"
#include "sim/grid/first_grid.h"
#include "sim/grid/search.h"
#include "sim/grid/sweep.h"
#include "sim/report/plan_json.h"
#include "sim/report/report.h"
#include "trace/io/trace_formats.h"
#include "trace/picture/shapes/svg.h"

/// Plans, and grids of them.
namespace debubble::python {
namespace {

/// The scenario's grid, or, where a search may make one, that of its network and machine.
sim::Grid grid_of(const Json& request, bool may_make) {
    const ScenarioText text = grid_text_of(request);
    sim::Grid grid = may_make && !sim::has_grid(text.text, text.file)
                         ? sim::made_grid(text.text, text.file, overrides_of(request)).grid
                         : sim::Grid(text.text, text.file, overrides_of(request));
    grid.any_schedule = flag_of(request, "any_schedule");
    grid.basis.emplace("--any-schedule", grid.any_schedule ? "given" : "not given");
    if (const auto anchors = texts_of(request, "anchors"); !anchors.empty())
        sim::correct_by(grid, std::make_shared<const sim::AnchoredBy>(
                                  sim::read_anchor(anchors, scenario_of(request))));
    else
        sim::leave_uncorrected(grid);
    return grid;
}

/// As a page asks for the same plan with other schedules.
sim::AskedScenario asked_of(const Json& request) {
    sim::AskedScenario asked{text_of(request, "scenario", "-"), text_of(request, "text"), {}};
    if (!asked.piped.empty()) asked.name = "-";
    for (const auto& [key, value] : overrides_of(request))
        asked.set.push_back(fmt::format("{}={}", key, value));
    return asked;
}

/// The options of a batch that the progress may stop.
struct Batch {
    Batch(const Json& request, const Progress& progress) {
        if (const auto jobs = whole_of(request, "jobs", 0); jobs > 0) options.jobs = jobs;
        options.program = DEBUBBLE_VERSION;
        options.stop = &stop;
        options.progress = [&progress, this](std::size_t done, std::size_t total) {
            if (!progress(done, total)) stop = true;
        };
    }
    std::atomic<bool> stop = false;
    sim::BatchOptions options;
};

/// The texts of a row's columns as `results.csv` has them; empty ones are null.
Json row_json(const sim::SweepRow& row, const std::vector<std::string>& columns) {
    const std::vector<std::string> fields = sim::csv_fields(row);
    Json json = Json::object();
    for (std::size_t i = 0; i < columns.size(); ++i)
        json[columns[i]] = fields[i].empty() ? Json() : Json(fields[i]);
    return json;
}

Json rows_json(std::span<const sim::SweepRow> rows, const std::vector<std::string>& keys) {
    const std::vector<std::string> columns = sim::csv_columns(keys);
    Json json = Json::array();
    for (const sim::SweepRow& row : rows) json.push_back(row_json(row, columns));
    return json;
}

}  // namespace

Answered simulate(const Json& request, const Progress&) {
    const scenarios::Scenario scenario = scenario_of(request);
    const bool trace = flag_of(request, "trace");
    sim::PredictOptions how;
    how.keep_trace = trace;
    how.bill = flag_of(request, "bill");
    how.hash_program = trace;
    how.explain = !flag_of(request, "quick");
    how.only_where_it_decides = flag_of(request, "quick");
    sim::PredictionWithTrace answer = sim::predict(scenario, how);
    if (const auto anchors = texts_of(request, "anchors"); !anchors.empty()) {
        answer.prediction.anchored =
            sim::AnchoredBy(sim::read_anchor(anchors, scenario)).of(scenario, answer.prediction);
        sim::plan_run(answer.played, answer.prediction);
    }
    Answered answered{sim::schema_json("prediction")};
    answered.json["plan"] = sim::plan_json(scenario);
    answered.json.update(sim::report_json(answer));
    if (trace) add_timeline(answer.trace, answered);
    return answered;
}

Answered save(const Json& request, const Progress&) {
    const scenarios::Scenario scenario = scenario_of(request);
    const std::string file = text_of(request, "file_to_write");
    const std::string ending = std::filesystem::path(file).extension().string();
    const bool is_page = file.empty() || ending == ".html";
    if (!is_page && ending != ".svg" && ending != ".csv" && trace_format_named(file) == nullptr)
        throw InputError(fmt::format("'{}': a file ends in .html, .svg, .csv or .json", file));
    const sim::PredictionWithTrace answer = sim::predict(scenario);
    if (is_page) {
        std::string page = sim::plan_pages(asked_of(request), {&scenario, 1}, {&answer, 1}, true);
        if (file.empty()) return {{{"page", std::move(page)}}};
        write_file(file, page);
        return {Json::object()};
    }
    std::ostringstream out;
    if (ending == ".svg")
        write_svg(answer.trace, answer.statistics, sim::picture_of(scenario, answer), out);
    else if (ending == ".csv")
        write_trace_csv(answer.trace, out);
    else if (trace_format_named(file) == &trace_formats().front())
        write_chrome_trace(answer.trace, out, sim::plan_json(scenario).dump());
    else
        out << trace_text(answer.trace, file);
    write_file(file, out.str());
    return {Json::object()};
}

Answered sweep(const Json& request, const Progress& progress) {
    const sim::Grid grid = grid_of(request, false);
    Batch batch(request, progress);
    const std::string out = text_of(request, "out");
    if (out.empty()) throw InputError("a results file is required");
    const sim::SweepResult result = sim::sweep(grid, out, batch.options);
    return {{{"keys", grid.keys()},
             {"columns", sim::csv_columns(grid.keys())},
             {"points", result.total},
             {"found", result.found},
             {"rows", rows_json(result.rows, grid.keys())}}};
}

Answered search(const Json& request, const Progress& progress) {
    const sim::Grid grid = grid_of(request, true);
    Batch batch(request, progress);
    const sim::Objective objective =
        sim::parse_objective(text_of(request, "objective", "tokens_per_s"));
    const sim::SearchResult result = sim::search(grid, objective, batch.options, 10);
    std::vector<const sim::SweepRow*> played;
    for (const sim::SweepRow& row : result.played) played.push_back(&row);
    Json apart = Json::array();
    if (objective != sim::Objective::PeakMemory)
        for (const sim::SweepRow* row :
             sim::not_apart_from_best(played, grid.keys()).worth_measuring)
            apart.push_back(row_json(*row, sim::csv_columns(grid.keys())));
    Answered answered{{{"keys", grid.keys()},
                       {"points", result.points},
                       {"predicted", result.predicted},
                       {"too_big", result.too_big},
                       {"too_slow", result.too_slow},
                       {"impossible", result.impossible},
                       {"lacking", result.lacking},
                       {"worth_measuring", std::move(apart)},
                       {"rows", rows_json(result.played, grid.keys())}}};
    if (!result.best) return answered;
    const scenarios::Scenario scenario = grid.instantiate(result.best->index);
    Json point = Json::object();
    for (std::size_t i = 0; i < result.best->values.size(); ++i)
        point[grid.sweep.keys[i].key] = result.best->values[i];
    answered.json["point"] = std::move(point);
    sim::PredictionWithTrace best = sim::predict(scenario);
    if (grid.correction) grid.correction->add(scenario, best.prediction);
    Json prediction = sim::schema_json("prediction");
    prediction["plan"] = sim::plan_json(scenario);
    prediction.update(sim::report_json(best));
    answered.json["prediction"] = std::move(prediction);
    add_timeline(best.trace, answered);
    return answered;
}

}  // namespace debubble::python
