#include "gui/viewmodel/export.h"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "gui/viewmodel/source.h"
#include "gui/viewmodel/timeline/words.h"
#include "gui/viewmodel/what_if/answer.h"
#include "gui/viewmodel/what_if/zoo.h"
#include "scenarios/read/edit.h"
#include "sim/report/beside_section.h"
#include "sim/report/plan_page.h"
#include "sim/report/report.h"
#include "sim/report/traces/compare_report.h"
#include "text/csv_row.h"
#include "trace/compare.h"
#include "trace/io/trace_formats.h"
#include "trace/page/page.h"
#include "trace/steps.h"

namespace debubble::gui {
namespace {

std::string svg_of_pair(const Exhibit& upper, const Exhibit& lower) {
    std::ostringstream out;
    write_svg_pair({&upper.drawn(), &upper.statistics, upper.picture},
                   {&lower.drawn(), &lower.statistics, lower.picture}, out);
    return std::move(out).str();
}

/// The exhibit of a trace on the screen. A predicted plan has more facts than its trace.
Exhibit shown_exhibit(const Shown& shown) {
    const TimelineDocument& document = *shown.document;
    if (shown.plan) return {document.trace, {}, document.statistics, shown.plan->picture};
    return exhibit_of(document.trace, shown.file);
}

/// One table of both traces. Each row begins with the name of its trace.
std::string csv_of_pair(const Shown& upper, const Shown& lower) {
    std::string table;
    const auto add = [&](const Shown& shown, bool with_header) {
        std::string name = text::write_csv_row({shown.file});
        name.pop_back();  // the end of the row
        const std::string rows = exported(shown_exhibit(shown), ExportFormat::Csv);
        std::string_view rest = rows;
        for (bool header = true; !rest.empty(); header = false) {
            const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
            if (!header || with_header) {
                table += header ? "trace" : name;
                table += ',';
                table += rest.substr(0, end + 1);
            }
            rest.remove_prefix(end + 1);
        }
    };
    add(upper, true);
    add(lower, false);
    return table;
}

/// The page of an exhibit with its drawing.
page::Page page_of(const Exhibit& exhibit) {
    picture::DocumentFacts facts{{exhibit.picture.title, exhibit.picture.subtitle},
                                 exhibit.picture.operators,
                                 exhibit.picture.links};
    page::Page page;
    page.title = exhibit.picture.title;
    if (!exhibit.picture.subtitle.empty()) page.lines = {exhibit.picture.subtitle};
    page.documents = {make_document(exhibit.drawn(), exhibit.statistics,
                                    exhibit.picture.memory_limit, {}, std::move(facts))};
    return page;
}

/// The page of a plan on the screen, with its figures, its bill, and the other schedules.
std::string page_of_plan(const PredictedPlan& plan) {
    sim::PlayedAgain again;
    if (const std::size_t actions = plan.document->trace.spans.size();
        actions > sim::kMostPlayedAgain) {
        again.left_out = sim::too_many_actions(actions);
    } else {
        again.bill = sim::bill_rows(sim::bill_of_plan(plan.played));
        if (!plan.text.empty()) again.zoo = schedule_zoo({plan.text, plan.file});
    }
    const Bytes limit = plan.picture.memory_limit.value_or(Bytes{});
    return page::page_html(sim::page_of(plan.prediction, limit, plan.document, again));
}

/// The page of a scenario that is not on the screen.
std::string page_of_scenario(ScenarioText source, const std::vector<std::string>& set) {
    for (const std::string& one : set)
        source.text = scenarios::with_key(source.text, source.file, scenarios::parse_override(one));
    const Answer predicted = answer(source);
    if (!predicted.plan) throw InputError(predicted.mistakes);
    return page_of_plan(*predicted.plan);
}

/// Two timelines on one axis, and their figures side by side.
std::string page_of_pair(const Exhibit& upper, const Exhibit& lower) {
    page::Page page = page_of(upper);
    page::Page other = page_of(lower);
    std::vector<std::string> lines{page.title};
    lines.insert(lines.end(), page.lines.begin(), page.lines.end());  // the plans, in words
    lines.push_back(other.title);
    lines.insert(lines.end(), other.lines.begin(), other.lines.end());
    page.lines = std::move(lines);
    page.title = "Two timelines on one axis";
    page.documents.push_back(other.documents.front());
    const std::vector<sim::TimelineBeside> beside{{"A", page.documents[0]},
                                                  {"B", page.documents[1]}};
    page.sections = {{"beside", "In figures", sim::beside_section(beside)}};
    return page::page_html(page);
}

std::string pair_of(const CommandLine& line, ExportFormat format) {
    const Exhibit upper = read_exhibit(line.files[0], line.set);
    const Exhibit lower = read_exhibit(line.files[1], line.set);
    return format == ExportFormat::Html ? page_of_pair(upper, lower) : svg_of_pair(upper, lower);
}

std::string json_of_pair(const Shown& upper, const Shown& lower) {
    const Trace& a = upper.document->trace;
    const Trace& b = lower.document->trace;
    if (const auto why_not = why_not_comparable(a, b))
        throw InputError(fmt::format("this comparison cannot be written as JSON: {}", *why_not));
    return sim::to_json(sim::compare_report(a, b, {upper.file, lower.file}));
}

std::string exported_pair(const on_screen::Comparison& both, ExportFormat format) {
    if (format == ExportFormat::Csv) return csv_of_pair(both.a, both.b);
    if (format == ExportFormat::Json) return json_of_pair(both.a, both.b);
    if (format == ExportFormat::Html)
        return page_of_pair(shown_exhibit(both.a), shown_exhibit(both.b));
    return svg_of_pair(shown_exhibit(both.a), shown_exhibit(both.b));
}

}  // namespace

Exhibit exhibit_of(Trace trace, const std::string& file) {
    Exhibit exhibit{std::move(trace), {}, {}, {}};
    if (steps_in(exhibit.trace) > 1) exhibit.median = median_step(exhibit.trace);
    exhibit.statistics = statistics(exhibit.drawn());
    exhibit.picture.title = caption_of(exhibit.drawn(), exhibit.statistics, file).title;
    return exhibit;
}

Exhibit exhibit_of(const scenarios::Scenario& scenario, sim::PredictionWithTrace answer) {
    SvgOptions picture = sim::picture_of(scenario, answer);
    return {std::move(answer.trace), {}, std::move(answer.statistics), std::move(picture)};
}

Exhibit read_exhibit(const std::string& file, const std::vector<std::string>& set) {
    Source source = open_source(file, set);
    if (auto* trace = std::get_if<TraceFile>(&source)) {
        if (!set.empty())
            throw InputError(fmt::format("--set changes a scenario, and {} is a trace", file));
        return exhibit_of(std::move(trace->trace), file);
    }
    std::vector<scenarios::Override> overrides;
    for (const std::string& one : set) overrides.push_back(scenarios::parse_override(one));
    const ScenarioText& text = std::get<ScenarioText>(source);
    const scenarios::Scenario scenario = scenarios::parse_scenario(text.text, text.file, overrides);
    return exhibit_of(scenario, sim::predict(scenario));
}

std::string exported(const Exhibit& exhibit, ExportFormat format) {
    assert(is_text_format(format) && "gui/widgets makes pictures of pixels");
    if (format == ExportFormat::Html) return page::page_html(page_of(exhibit));
    std::ostringstream out;
    if (format == ExportFormat::Svg)
        write_svg(exhibit.drawn(), exhibit.statistics, exhibit.picture, out);
    else if (format == ExportFormat::Csv)
        write_trace_csv(exhibit.trace, out);
    else
        write_chrome_trace(exhibit.trace, out);
    return std::move(out).str();
}

std::string exported(const Screen& screen, ExportFormat format) {
    if (!document_of(screen)) throw InputError("nothing is open that could be exported");
    if (const auto* both = std::get_if<on_screen::Comparison>(&screen))
        return exported_pair(*both, format);
    if (const auto* trace = std::get_if<on_screen::Trace>(&screen))
        return exported(shown_exhibit(trace->trace), format);
    const auto& plan = std::get<on_screen::Plan>(screen);
    if (format == ExportFormat::Html) return page_of_plan(*plan.plan);
    return exported(shown_exhibit(Shown{plan.plan->document, plan.file, plan.plan}), format);
}

std::vector<ExportChoice> export_choices(const Screen& screen) {
    const bool pair = std::holds_alternative<on_screen::Comparison>(screen);
    return {
        {ExportFormat::Svg, said("export", "Vector picture"), "svg"},
        {ExportFormat::Html, said("export", "Page to mail"), "html"},
        {ExportFormat::Png, said("export", "Picture"), "png"},
        {ExportFormat::Pdf, said("export", "Document"), "pdf"},
        {ExportFormat::Gif,
         pair ? said("export", "Race of both") : said("export", "Step that is played"), "gif"},
        {ExportFormat::WebM,
         pair ? said("export", "Race of both, as video")
              : said("export", "Step that is played, as video"),
         "webm"},
        {ExportFormat::Json,
         pair ? said("export", "Comparison in figures") : said("export", "Trace for Perfetto"),
         "json"},
        {ExportFormat::Csv,
         pair ? said("export", "Table of the actions of both") : said("export", "Table of actions"),
         "csv"}};
}

void check_folder_of(const std::string& file) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    std::error_code error;
    if (!folder.empty() && !std::filesystem::is_directory(folder, error))
        throw InputError(fmt::format("--export {}: there is no folder {}", file, folder.string()));
}

void export_text(const CommandLine& line) {
    check_folder_of(*line.export_to);
    const ExportFormat format = export_format_of(*line.export_to);
    const bool takes_two = format == ExportFormat::Svg || format == ExportFormat::Html;
    const std::size_t most = takes_two ? 2 : 1;
    if (line.files.size() > most)
        throw InputError(fmt::format("--export {} takes at most {} file{}", *line.export_to, most,
                                     most > 1 ? "s" : ""));
    if (line.files.size() == 2) return write_file(*line.export_to, pair_of(line, format));
    if (format == ExportFormat::Html) {
        Source source = open_source(line.files[0], line.set);
        if (auto* text = std::get_if<ScenarioText>(&source))
            return write_file(*line.export_to, page_of_scenario(std::move(*text), line.set));
    }
    Exhibit exhibit = read_exhibit(line.files[0], line.set);
    exhibit.picture.draw_links = line.links;
    write_file(*line.export_to, exported(exhibit, format));
}

}  // namespace debubble::gui
