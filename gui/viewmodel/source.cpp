#include "gui/viewmodel/source.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/jobs/job.h"
#include "sim/report/traces/profile_report.h"
#include "text/wording.h"
#include "trace/io/trace_formats.h"
#include "trace/profile/runs/profiled_run.h"

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

bool is_profile(const std::string& file) {
    std::error_code error;
    if (std::filesystem::is_directory(file, error)) return true;
    if (!std::filesystem::is_regular_file(file, error)) return false;
    const profile::TraceKind kind = profile::kind_of_trace(file);
    return kind == profile::TraceKind::Kineto || kind == profile::TraceKind::Nsight;
}

TraceFile read_profile(const std::vector<std::string>& files, const ExecutedPlan* plan) {
    const std::vector<std::string> all = profile::trace_files(files);
    if (all.size() == 1 && profile::kind_of_trace(all.front()) == profile::TraceKind::Own)
        return {read_trace(all.front()), all.front()};
    profile::RunOptions options;
    if (plan != nullptr) {
        options.program = plan->program;
        if (!plan->layers.empty()) options.layers = plan->layers;
    }
    profile::ProfiledRun run = profile::read_run(all, options);
    if (run.trace.spans.empty())
        throw InputError(
            fmt::format("{}: no passes were found, so that there is no timeline to show: neither "
                        "does a range name one nor attention show one",
                        files.front()));
    std::string words = sim::evidence_words(run);
    return {std::move(run.trace), files.front(), std::move(words)};
}

Source open_source(const std::string& name_or_path, const std::vector<std::string>& set) {
    if (is_profile(name_or_path)) return read_profile({name_or_path});
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
    const Duration step = header.step_time.value_or(statistics.step);
    double exposed = 0;
    for (const RankStatistics& rank : statistics.ranks) exposed += seconds(rank.exposed);
    const double all = seconds(statistics.step) * static_cast<double>(statistics.ranks.size());
    return {
        fmt::format("{} ({}): step {}, bubble {}, exposed {}",
                    header.scenario.empty() ? title_of(file) : header.scenario,
                    header.source_name(), text::time_text(seconds(step)),
                    text::percent(statistics.bubble), text::percent(all > 0 ? exposed / all : 0)),
        {}};
}

}  // namespace debubble::gui
