#include "gui/viewmodel/opened.h"

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/edit.h"
#include "sim/predict.h"
#include "sim/report/compare_report.h"
#include "sim/report/report_text.h"
#include "trace/compare.h"

namespace debubble::gui {
namespace {

ScenarioText with_overrides(ScenarioText source, const std::vector<std::string>& set) {
    for (const std::string& text : set)
        source.text =
            scenarios::with_key(source.text, source.file, scenarios::parse_override(text));
    return source;
}

Shown predicted(const ScenarioText& source) {
    const scenarios::Scenario scenario = scenarios::parse_scenario(source.text, source.file);
    sim::PredictionWithTrace answer = sim::predict(scenario);
    const SvgOptions picture = sim::picture_of(scenario, answer);
    return {make_document(std::move(answer.trace), std::move(answer.statistics),
                          answer.memory_limit, {}, {picture.title, picture.subtitle}),
            source.file};
}

/// `of_two`: the trace is compared with another one, whose scenario may have the same name.
Shown shown(TraceFile file, bool of_two) {
    Statistics of_trace = statistics(file.trace);
    Caption caption = caption_of(file.trace, of_trace, file.file);
    if (of_two) caption.subtitle = title_of(file.file);
    return {make_document(std::move(file.trace), std::move(of_trace), {}, {}, std::move(caption)),
            file.file};
}

Opened open_each(const std::vector<std::string>& files, const std::vector<std::string>& set) {
    if (files.size() > 2)
        throw InputError(fmt::format("{} files: at most two can be compared", files.size()));
    Opened opened;
    for (const std::string& file : files) {
        Source source = open_source(file, set);
        if (auto* trace = std::get_if<TraceFile>(&source)) {
            if (!set.empty() && files.size() == 1)
                throw InputError(fmt::format("--set changes a scenario, and {} is a trace", file));
            opened.traces.push_back(shown(std::move(*trace), files.size() == 2));
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

void compare_both(Opened& opened) {
    const Shown& a = opened.traces[0];
    const Shown& b = opened.traces[1];
    const Trace& simulated = a.document->trace;
    const Trace& executed = b.document->trace;
    opened.pairing = pair(*a.document, *b.document);
    if (const auto why_not = why_not_comparable(simulated, executed))
        opened.comparison = fmt::format("The errors cannot be shown: {}\n", *why_not);
    else
        opened.comparison =
            sim::to_text(sim::compare_report(simulated, executed, {a.file, b.file}));
}

/// Runs `work`; exceptions become part of the answer.
template <class Work>
Opened attempted(Work work) {
    try {
        return work();
    } catch (const InputError& error) {
        Opened failed;
        failed.mistakes = error.diagnostics();
        return failed;
    } catch (const std::exception& error) {
        Opened failed;
        failed.mistakes = {{{}, error.what(), {}}};
        return failed;
    }
}

}  // namespace

Opened open_both(const Shown& a, const Shown& b) {
    return attempted([&] {
        Opened opened;
        opened.traces = {a, b};
        opened.compares = Compares::Plans;
        compare_both(opened);
        return opened;
    });
}

Opened open_run(const Shown& predicted, const std::string& executed) {
    return attempted([&] {
        Opened opened = open_each({executed}, {});
        opened.traces.insert(opened.traces.begin(), predicted);
        opened.compares = Compares::Run;
        compare_both(opened);
        return opened;
    });
}

Opened open_all(const std::vector<std::string>& files, const std::vector<std::string>& set) {
    return attempted([&] {
        Opened opened = open_each(files, set);
        if (opened.traces.size() == 2) compare_both(opened);
        return opened;
    });
}

}  // namespace debubble::gui
