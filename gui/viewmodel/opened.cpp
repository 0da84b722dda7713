#include "gui/viewmodel/opened.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "gui/viewmodel/timeline/words.h"
#include "gui/viewmodel/what_if/answer.h"
#include "scenarios/plan/plan.h"
#include "scenarios/read/edit.h"
#include "sim/report/traces/compare_report.h"
#include "sim/report/traces/profile_report.h"
#include "text/wording.h"
#include "trace/compare.h"
#include "trace/io/trace_formats.h"

namespace debubble::gui {
namespace {

ScenarioText with_overrides(ScenarioText source, const std::vector<std::string>& set) {
    for (const std::string& text : set)
        source.text =
            scenarios::with_key(source.text, source.file, scenarios::parse_override(text));
    return source;
}

/// The plan of a prediction, which names the passes of a profile.
ExecutedPlan executed_plan(const scenarios::Scenario& played, const Program& program) {
    ExecutedPlan plan{program, {}};
    for (const models::StageContent& stage :
         scenarios::partition_of(played, program.placement.stage_count()))
        plan.layers.push_back(stage.layers);
    return plan;
}

Shown predicted(const ScenarioText& source) {
    const Answer found = answer(source);
    if (!found.plan) throw InputError(found.mistakes);
    return {found.plan->document, source.file, found.plan};
}

Document document_of(const Trace& step, const std::string& file, const std::string& words,
                     bool of_two) {
    Trace trace = step;
    Statistics of_trace = statistics(trace);
    Caption caption = caption_of(trace, of_trace, file);
    // Two traces may have scenarios of the same name.
    caption.subtitle = of_two ? title_of(file) : words;
    return make_document(std::move(trace), std::move(of_trace), {}, {}, {std::move(caption)});
}

std::string words_of_step(const SplitSteps& steps, std::size_t step, const std::string& words) {
    const std::string which =
        filled(said("opening", "step {} of {}{}"), step + 1, steps.steps.size(),
               step == steps.median ? said("opening", ", the median one") : "");
    return words.empty() ? which : which + "; " + words;
}

/// The median step of a trace. `of_two`: it is compared with another trace.
Shown shown(TraceFile file, bool of_two) {
    auto steps = std::make_shared<SplitSteps>(split_steps(file.trace));
    Shown out{{}, file.file};
    out.words = file.words;
    out.step = steps->median;
    const bool several = steps->steps.size() > 1;
    out.document =
        document_of(steps->steps[out.step], file.file,
                    several ? words_of_step(*steps, out.step, file.words) : file.words, of_two);
    if (several) out.steps = std::move(steps);
    return out;
}

/// Files by kind. Those of a profiler are the ranks of one run.
struct FilesByKind {
    std::vector<std::string> others;
    std::vector<std::string> of_profiler;
    std::size_t traces() const { return others.size() + (of_profiler.empty() ? 0 : 1); }
};
FilesByKind files_by_kind(const std::vector<std::string>& files) {
    FilesByKind out;
    for (const std::string& file : files)
        (is_profile(file) ? out.of_profiler : out.others).push_back(file);
    return out;
}

Shown shown_profile(const std::vector<std::string>& files, const ExecutedPlan* plan, bool of_two) {
    Shown out = shown(read_profile(files, plan), of_two);
    out.files = files;
    return out;
}

Opened open_each(const std::vector<std::string>& files, const std::vector<std::string>& set) {
    const FilesByKind by_kind = files_by_kind(files);
    const bool two = by_kind.traces() == 2;
    if (by_kind.traces() > 2)
        throw InputError(
            filled(said("opening", "{} files: at most two can be compared"), by_kind.traces()));
    Opened opened;
    for (const std::string& file : by_kind.others) {
        Source source = open_source(file, set);
        if (auto* trace = std::get_if<TraceFile>(&source)) {
            if (!set.empty() && !two)
                throw InputError(
                    filled(said("opening", "--set changes a scenario, and {} is a trace"), file));
            opened.traces.push_back(shown(std::move(*trace), two));
            continue;
        }
        ScenarioText scenario = with_overrides(std::get<ScenarioText>(std::move(source)), set);
        if (two)
            opened.traces.push_back(predicted(scenario));
        else
            opened.scenario = std::move(scenario);
    }
    if (by_kind.of_profiler.empty()) return opened;
    if (!set.empty() && !two)
        throw InputError(filled(said("opening", "--set changes a scenario, and {} is a trace"),
                                by_kind.of_profiler.front()));
    if (two) return open_run(opened.traces.front(), by_kind.of_profiler);
    opened.traces.push_back(shown_profile(by_kind.of_profiler, nullptr, false));
    return opened;
}

/// Whether the stages of two plans have the same layers, so that a pass of a stage is the same work
/// in both. Without plans, traces show only their number of stages and their scenario.
bool same_layers(const Shown& a, const Shown& b) {
    const auto stages = [](const Shown& of) {
        return of.document->trace.program.placement.stage_count();
    };
    if (stages(a) != stages(b)) return false;
    if (!a.plan || !b.plan)
        return a.document->trace.header.scenario == b.document->trace.header.scenario;
    const auto content = [](const Shown& of, int count) {
        return scenarios::partition_of(of.plan->played, count);
    };
    return a.plan->played.model.name == b.plan->played.model.name &&
           content(a, stages(a)) == content(b, stages(b));
}

void compare_both(Opened& opened) {
    const Shown& a = opened.traces[0];
    const Shown& b = opened.traces[1];
    const Trace& simulated = a.document->trace;
    const Trace& executed = b.document->trace;
    const auto other_program = why_not_comparable(simulated, executed);
    if (opened.compares == Compares::Plans || other_program) {
        opened.pairing =
            pair(*a.document, *b.document, same_layers(a, b) ? Common::Layers : Common::Nothing);
        opened.comparison = sums_text(*opened.pairing);
        return;
    }
    opened.pairing = pair(*a.document, *b.document);
    opened.comparison = sim::to_text(sim::compare_report(simulated, executed, {a.file, b.file}));
}

/// Reduces a prediction and its profiled run to two traces with the same kinds of actions.
void compare_with_profile(Opened& opened, const Shown& predicted,
                          const std::vector<std::string>& executed) {
    const Trace& simulated = predicted.document->trace;
    if (simulated.program.ranks.empty())
        throw InputError(filled(said("opening", "{} holds no program that {} could be of"),
                                predicted.file, executed.front()));
    ExecutedPlan plan{simulated.program, {}};
    if (predicted.plan) plan = executed_plan(predicted.plan->played, simulated.program);
    const TraceFile run = read_profile(executed, &plan);
    sim::OnCommonGround ground = sim::on_common_ground(simulated, run.trace, simulated.program);
    if (ground.executed.spans.empty())
        throw InputError(
            filled(said("opening", "{} shows no action of this plan"), executed.front()));
    Shown of_plan = shown(TraceFile{std::move(ground.simulated), predicted.file}, true);
    of_plan.plan = predicted.plan;
    Shown of_run = shown(TraceFile{std::move(ground.executed), run.file, run.words}, true);
    of_run.files = executed;
    opened.traces = {std::move(of_plan), std::move(of_run)};
    for (const std::string& sentence : ground.left_out)
        opened.comparison += filled(said("opening", "not compared: {}"), sentence) + '\n';
}

/// Runs `work`; exceptions become the mistakes of the result.
template <class Work>
Opened or_mistakes(Work work) {
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
    return or_mistakes([&] {
        Opened opened;
        opened.traces = {a, b};
        opened.compares = Compares::Plans;
        compare_both(opened);
        return opened;
    });
}

Opened open_run(const Shown& predicted, const std::vector<std::string>& executed) {
    return or_mistakes([&] {
        Opened opened;
        opened.compares = Compares::Run;
        const bool profiled = std::ranges::any_of(executed, is_profile);
        if (profiled)
            compare_with_profile(opened, predicted, executed);
        else
            opened.traces = {
                predicted, shown(TraceFile{read_trace(executed.front()), executed.front()}, true)};
        const std::string left_out = std::exchange(opened.comparison, {});
        compare_both(opened);
        opened.comparison += left_out;
        return opened;
    });
}

Opened open_step(const Shown& shown, std::size_t step) {
    return or_mistakes([&] {
        Opened opened;
        Shown& other = opened.traces.emplace_back(shown);
        other.step = step;
        other.document = document_of(shown.steps->steps[step], shown.file,
                                     words_of_step(*shown.steps, step, shown.words), false);
        return opened;
    });
}

std::vector<std::string> names_of_steps(const Shown& shown) {
    std::vector<std::string> names;
    if (!shown.steps) return names;
    for (std::size_t k = 0; k < shown.steps->steps.size(); ++k) {
        const Trace& step = shown.steps->steps[k];
        Duration length = step.header.step_time.value_or(Duration{});
        if (!step.header.step_time && !step.spans.empty()) {
            const auto last = std::ranges::max_element(step.spans, {}, &Span::end);
            length = last->end - step.spans.front().begin;
        }
        names.push_back(fmt::format("{}: {}{}", k + 1, text::time_text(length),
                                    k == shown.steps->median ? said("opening", " (median)") : ""));
    }
    return names;
}

Opened open_all(const std::vector<std::string>& files, const std::vector<std::string>& set) {
    return or_mistakes([&] {
        Opened opened = open_each(files, set);
        if (opened.traces.size() == 2) compare_both(opened);
        return opened;
    });
}

}  // namespace debubble::gui
