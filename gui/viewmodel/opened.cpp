#include "gui/viewmodel/opened.h"

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/edit.h"
#include "sim/prediction.h"

namespace debubble::gui {
namespace {

ScenarioText with_overrides(ScenarioText source, const std::vector<std::string>& set) {
    for (const std::string& text : set)
        source.text =
            scenarios::with_key(source.text, source.file, scenarios::parse_override(text));
    return source;
}

Shown predicted(const ScenarioText& source) {
    sim::PredictionWithTrace answer =
        sim::predict(scenarios::parse_scenario(source.text, source.file));
    return {
        make_document(std::move(answer.trace), std::move(answer.statistics), answer.memory_limit),
        source.file};
}

Opened open_each(const std::vector<std::string>& files, const std::vector<std::string>& set) {
    if (files.size() > 2)
        throw InputError(
            fmt::format("{} files: at most two can be laid beside each other", files.size()));
    Opened opened;
    for (const std::string& file : files) {
        Source source = open_source(file);
        if (auto* trace = std::get_if<TraceFile>(&source)) {
            if (!set.empty() && files.size() == 1)
                throw InputError(fmt::format("--set changes a scenario, and {} is a trace", file));
            opened.traces.push_back({make_document(std::move(trace->trace), {}), file});
            continue;
        }
        ScenarioText scenario = with_overrides(std::get<ScenarioText>(std::move(source)), set);
        if (files.size() == 1)
            opened.scenario = std::move(scenario);
        else
            opened.traces.push_back(predicted(scenario));
    }
    return opened;
}

}  // namespace

Opened open_all(const std::vector<std::string>& files, const std::vector<std::string>& set) {
    try {
        return open_each(files, set);
    } catch (const InputError& error) {
        return {{}, {}, error.diagnostics()};
    } catch (const std::exception& error) {
        return {{}, {}, {{{}, error.what(), {}}}};
    }
}

}  // namespace debubble::gui
