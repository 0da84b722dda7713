#include "gui/viewmodel/export.h"

#include <cassert>
#include <sstream>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "gui/viewmodel/source.h"
#include "sim/report/report_text.h"
#include "trace/io/chrome_trace.h"
#include "trace/io/trace_csv.h"

namespace debubble::gui {
namespace {

std::string pair_of(const CommandLine& line) {
    const Exhibit upper = read_exhibit(line.files[0], line.set);
    const Exhibit lower = read_exhibit(line.files[1], line.set);
    std::ostringstream out;
    write_svg_pair({&upper.trace, &upper.statistics, upper.picture},
                   {&lower.trace, &lower.statistics, lower.picture}, out);
    return std::move(out).str();
}

}  // namespace

Exhibit exhibit_of(Trace trace, const std::string& file) {
    Exhibit exhibit{std::move(trace), {}, {}};
    exhibit.statistics = statistics(exhibit.trace);
    exhibit.picture.title = caption_of(exhibit.trace, exhibit.statistics, file).title;
    return exhibit;
}

Exhibit exhibit_of(const scenarios::Scenario& scenario, sim::PredictionWithTrace answer) {
    SvgOptions picture = sim::picture_of(scenario, answer);
    return {std::move(answer.trace), std::move(answer.statistics), std::move(picture)};
}

Exhibit read_exhibit(const std::string& file, const std::vector<std::string>& set) {
    Source source = open_source(file);
    if (auto* trace = std::get_if<TraceFile>(&source)) {
        if (!set.empty())
            throw InputError(fmt::format("--set changes a scenario, and {} is a trace", file));
        return exhibit_of(std::move(trace->trace), file);
    }
    std::vector<scenarios::Override> overrides;
    for (const std::string& text : set) overrides.push_back(scenarios::parse_override(text));
    const scenarios::Scenario scenario = scenarios::read_scenario(file, overrides);
    return exhibit_of(scenario, sim::predict(scenario));
}

std::string exported(const Exhibit& exhibit, ExportFormat format) {
    assert(is_text_format(format) && "pictures of pixels are made by the window's side");
    std::ostringstream out;
    if (format == ExportFormat::Svg)
        write_svg(exhibit.trace, exhibit.statistics, exhibit.picture, out);
    else if (format == ExportFormat::Csv)
        write_trace_csv(exhibit.trace, out);
    else
        write_chrome_trace(exhibit.trace, out);
    return std::move(out).str();
}

void export_text(const CommandLine& line) {
    const ExportFormat format = export_format_of(*line.export_to);
    const std::size_t most = format == ExportFormat::Svg ? 2 : 1;
    if (line.files.size() > most)
        throw InputError(fmt::format("--export {} takes at most {} file{}", *line.export_to, most,
                                     most > 1 ? "s" : ""));
    write_file(*line.export_to, line.files.size() == 2
                                    ? pair_of(line)
                                    : exported(read_exhibit(line.files[0], line.set), format));
}

}  // namespace debubble::gui
