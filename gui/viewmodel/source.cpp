#include "gui/viewmodel/source.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "text/wording.h"
#include "trace/io/trace_formats.h"

namespace debubble::gui {
Source open_source(const std::string& name_or_path) {
    if (trace_format_named(name_or_path) != nullptr)
        return TraceFile{read_trace(name_or_path), name_or_path};
    const std::filesystem::path path = scenarios::find_scenario(name_or_path);
    return ScenarioText{read_file(path), path.string()};
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
