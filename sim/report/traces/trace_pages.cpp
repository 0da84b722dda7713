#include "sim/report/traces/profile_report.h"

#include <fmt/format.h>

#include "sim/report/beside_section.h"
#include "sim/report/plan_page.h"
#include "sim/report/report.h"
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
    const std::vector<TimelineBeside> beside{{names.simulated, page.documents[0]},
                                             {names.executed, page.documents[1]}};
    page.sections = {{"beside", "In figures", beside_section(beside)},
                     {"comparison", "The comparison", preformatted(to_text(report))}};
    return page;
}

page::Page page_of(const ProfileReport& report, const PlanOnPage* predicted) {
    const Statistics& s = report.statistics;
    const std::string title =
        fmt::format("{}: step {}, bubble {}", report.run.ranks.front().format,
                    text::time_text(seconds(s.step)), text::percent(s.bubble));
    picture::DocumentFacts facts;
    facts.caption = {title, evidence_words(report.run)};
    page::Page page;
    page.title = title;
    page.lines = {facts.caption.subtitle};
    const picture::Document run = make_document(report.step, s, {}, {}, std::move(facts));
    page.documents = {run};
    if (predicted != nullptr) {
        const Prediction& plan = predicted->answer->prediction;
        page.documents.insert(page.documents.begin(), document_of(*predicted));
        page.title =
            fmt::format("{}: predicted {}, executed {}", plan.scenario,
                        text::time_text(plan.step_time_s), text::time_text(seconds(s.step)));
        const std::vector<TimelineBeside> beside{{"predicted", page.documents.front(), &plan},
                                                 {"executed", run}};
        page.sections.push_back({"beside", "In figures", beside_section(beside)});
        if (report.beside)
            page.sections.push_back(
                {"comparison", "The comparison", preformatted(to_text(*report.beside))});
    }
    page.sections.push_back({"report", "The run in figures", preformatted(to_text(report))});
    return page;
}

}  // namespace debubble::sim
