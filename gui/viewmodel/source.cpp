#include "gui/viewmodel/source.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "scenarios/jobs/job.h"
#include "text/wording.h"
#include "trace/io/trace_formats.h"

namespace debubble::gui {
namespace {

ScenarioText imported(std::string text, const std::filesystem::path& job,
                      const std::vector<std::string>& set) {
    std::vector<scenarios::Override> given;
    for (const std::string& one : set) given.push_back(scenarios::parse_override(one));
    const jobs::Imported read =
        jobs::import_text(std::move(text), job, {}, given, job.parent_path());
    return {read.text, (job.parent_path() / (job.stem().string() + ".plan.yaml")).string()};
}

}  // namespace

Source open_source(const std::string& name_or_path, const std::vector<std::string>& set) {
    if (trace_format_named(name_or_path) != nullptr)
        return TraceFile{read_trace(name_or_path), name_or_path};
    const std::filesystem::path path = scenarios::find_scenario(name_or_path);
    std::string text = read_file(path);
    if (jobs::is_job(text, path)) return imported(std::move(text), path, set);
    return ScenarioText{std::move(text), path.string()};
}

std::string title_of(const std::string& file) {
    std::string title = std::filesystem::path(file).stem().string();
    if (title.ends_with(".trace")) title.resize(title.size() - 6);
    return title;
}

picture::Caption caption_of(const Trace& trace, const Statistics& statistics,
                            const std::string& file) {
    const TraceHeader& header = trace.header;
    const Duration step = header.step_time > Duration{} ? header.step_time : statistics.step;
    return {fmt::format("{} ({}): step {}, bubble {}",
                        header.scenario.empty() ? title_of(file) : header.scenario, header.source,
                        text::time_text(seconds(step)), text::percent(statistics.bubble)),
            {}};
}

}  // namespace debubble::gui
