#include "sim/report/plan_page.h"

#include <fmt/format.h>

#include "sim/plan/plan_words.h"
#include "sim/report/beside_section.h"
#include "sim/report/report.h"

namespace debubble::sim {
namespace {

/// Why a plan may not fit; empty where it does.
std::string fits_line(const Prediction& p) {
    if (p.fits && p.memory_verdict == MemoryVerdict::Fits) return {};
    const std::string range = p.memory_range ? memory_range_words(*p.memory_range) : "";
    const std::string& why = p.reason.empty() ? range : p.reason;
    return fmt::format("memory: {}{}", fits_text(p), why.empty() ? "" : ": " + why);
}

std::string id_of(const char* name, std::size_t plan, std::size_t plans) {
    return plans == 1 ? name : fmt::format("{}-{}", name, plan + 1);
}

}  // namespace

picture::Document document_of(const PlanOnPage& plan) {
    const SvgOptions of_picture = picture_of(*plan.scenario, *plan.answer);
    picture::DocumentFacts facts{
        {of_picture.title, of_picture.subtitle}, of_picture.operators, of_picture.links};
    return make_document(plan.answer->trace, plan.answer->statistics, of_picture.memory_limit, {},
                         std::move(facts));
}

std::string too_many_actions(std::size_t actions) {
    return fmt::format(
        "The bill of the step and the other schedules: the plan has {} actions, and plans of more "
        "than {} are not played again for a page. simulate --bill and the window do.",
        actions, kMostPlayedAgain);
}

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
    if (!alone) {
        std::vector<TimelineBeside> beside;
        for (std::size_t i = 0; i < plans.size(); ++i)
            beside.push_back({names[i], page.documents[i], &plans[i].answer->prediction});
        page.sections.push_back({"beside", "In figures", beside_section(beside)});
    }
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
                   const PlayedAgain& again) {
    page::Page page;
    page.title = document->caption.title;
    page.lines = {document->caption.subtitle};
    if (!fits_line(prediction).empty()) page.lines.push_back(fits_line(prediction));
    page.documents = {std::move(document)};
    const auto add = [&](const char* id, const char* title, std::string html) {
        if (!html.empty()) page.sections.push_back({id, title, std::move(html)});
    };
    if (!again.left_out.empty()) add("left-out", "Left out", paragraph(again.left_out));
    add("bill", "Where the step goes", bill_section(again.bill));
    add("schedules", "The other schedules", zoo_section(again.zoo, page.pictures));
    add("figures", "Figures", figures_section(prediction));
    add("ranks", "Ranks", ranks_section(prediction, memory_limit));
    add("notes", "Notes", notes_section(prediction));
    add("constants", "Where the constants come from", provenance_section(prediction));
    return page;
}

}  // namespace debubble::sim
