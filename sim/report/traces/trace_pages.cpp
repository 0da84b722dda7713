#include "sim/report/traces/profile_report.h"

#include <fmt/format.h>

#include "sim/report/plan_page.h"
#include "text/wording.h"
#include "trace/steps.h"

namespace debubble::sim {
namespace {

picture::Document document_of(const Trace& trace, const std::string& name, const StepFigures& step,
                              const std::string& file) {
    Trace median = median_step(trace);
    Statistics of_median = statistics(median);
    picture::DocumentFacts facts;
    facts.caption = {
        fmt::format("{}: step {}, bubble {}", name, text::time_text(seconds(step.step_time)),
                    text::percent(step.bubble)),
        file};
    return make_document(std::move(median), std::move(of_median), {}, {}, std::move(facts));
}

}  // namespace

page::Page page_of(const Trace& first, const Trace& second, const CompareReport& report) {
    const Compared<std::string> names = names_of(report);
    const Compared<StepFigures>& step = report.comparison.step;
    page::Page page;
    page.title = fmt::format("{}: {} {}, {} {}", first.header.scenario, names.simulated,
                             text::time_text(seconds(step.simulated.step_time)), names.executed,
                             text::time_text(seconds(step.executed.step_time)));
    page.lines = {fmt::format("{}: {}", names.simulated, report.files.simulated),
                  fmt::format("{}: {}", names.executed, report.files.executed)};
    page.documents = {document_of(first, names.simulated, step.simulated, report.files.simulated),
                      document_of(second, names.executed, step.executed, report.files.executed)};
    page.sections = {{"comparison", "The comparison", preformatted(to_text(report))}};
    return page;
}

page::Page page_of(const ProfileReport& report) {
    const Statistics& s = report.statistics;
    const std::string title =
        fmt::format("{}: step {}, bubble {}", report.run.ranks.front().format,
                    text::time_text(seconds(s.step)), text::percent(s.bubble));
    picture::DocumentFacts facts;
    facts.caption = {title, evidence_words(report.run)};
    page::Page page;
    page.title = title;
    page.lines = {facts.caption.subtitle};
    page.documents = {make_document(report.step, s, {}, {}, std::move(facts))};
    page.sections = {{"report", "The run in figures", preformatted(to_text(report))}};
    return page;
}

}  // namespace debubble::sim
