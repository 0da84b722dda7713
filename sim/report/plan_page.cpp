#include "sim/report/plan_page.h"

#include <fmt/format.h>

#include "sim/plan/plan_words.h"
#include "sim/report/report.h"

namespace debubble::sim {
namespace {

picture::Document document_of(const PlanOnPage& plan) {
    const SvgOptions of_picture = picture_of(*plan.scenario, *plan.answer);
    picture::DocumentFacts facts{
        {of_picture.title, of_picture.subtitle}, of_picture.operators, of_picture.links};
    return make_document(plan.answer->trace, plan.answer->statistics, of_picture.memory_limit, {},
                         std::move(facts));
}

/// The reason why a plan may not fit; empty where it fits.
std::string fits_line(const Prediction& p) {
    if (p.fits && p.memory_verdict == MemoryVerdict::Fits) return {};
    return fmt::format("memory: {}{}", fits_text(p), p.reason.empty() ? "" : ": " + p.reason);
}

std::string id_of(const char* name, std::size_t plan, std::size_t plans) {
    return plans == 1 ? name : fmt::format("{}-{}", name, plan + 1);
}

}  // namespace

page::Page page_of(std::span<const PlanOnPage> plans) {
    page::Page page;
    std::vector<std::string> names;
    for (const PlanOnPage& plan : plans) {
        names.push_back(plan.answer->prediction.scenario);
        page.documents.push_back(document_of(plan));
    }
    const bool alone = plans.size() == 1;
    page.title = alone ? headline(plans[0].answer->prediction)
                       : fmt::format("{} on one clock", fmt::join(names, ", "));
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const PlanOnPage& plan = plans[i];
        const Prediction& p = plan.answer->prediction;
        const std::string& of = page.documents[i]->caption.subtitle;
        if (alone) page.lines.push_back(of);
        if (alone && !fits_line(p).empty()) page.lines.push_back(fits_line(p));
        const std::string who = alone ? "" : fmt::format(" of {}", p.scenario);
        const auto add = [&](const char* id, const char* title, std::string html) {
            if (!html.empty())
                page.sections.push_back({id_of(id, i, plans.size()), title + who, std::move(html)});
        };
        if (!alone) add("plan", "The plan", paragraph(of));
        if (!plan.left_out.empty()) add("left-out", "Left out", paragraph(plan.left_out));
        add("bill", "Where the step goes", bill_section(plan.bill));
        add("schedules", "The other schedules", zoo_section(plan.zoo, page.pictures));
        add("figures", "Figures", figures_section(p));
        add("ranks", "Ranks", ranks_section(p, plan.answer->memory_limit));
        add("notes", "Notes", notes_section(p));
        add("constants", "Where the constants come from", provenance_section(p));
        add("report", "The whole report", report_section(*plan.scenario, *plan.answer));
    }
    return page;
}

page::Page page_of(const Prediction& prediction, Bytes memory_limit, picture::Document document,
                   const std::vector<BillRow>& bill) {
    page::Page page;
    page.title = document->caption.title;
    page.lines = {document->caption.subtitle};
    if (!fits_line(prediction).empty()) page.lines.push_back(fits_line(prediction));
    page.documents = {std::move(document)};
    const auto add = [&](const char* id, const char* title, std::string html) {
        if (!html.empty()) page.sections.push_back({id, title, std::move(html)});
    };
    add("bill", "Where the step goes", bill_section(bill));
    add("figures", "Figures", figures_section(prediction));
    add("ranks", "Ranks", ranks_section(prediction, memory_limit));
    add("notes", "Notes", notes_section(prediction));
    add("constants", "Where the constants come from", provenance_section(prediction));
    return page;
}

}  // namespace debubble::sim
