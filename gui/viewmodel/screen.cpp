#include "gui/viewmodel/screen.h"

#include <cassert>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/overloaded.h"
#include "gui/viewmodel/timeline/words.h"
#include "trace/picture/document/exposed.h"
#include "trace/picture/wording.h"

namespace debubble::gui {
namespace {

/// The titles of two files, with their folders where the names alone are equal.
std::string title_of_files(const std::string& a, const std::string& b) {
    const auto in_folder = [](const std::string& file) {
        const std::string folder = std::filesystem::path(file).parent_path().filename().string();
        return folder.empty() ? title_of(file) : folder + '/' + title_of(file);
    };
    if (title_of(a) != title_of(b) || a == b)
        return filled(said("titles", "{} and {}"), title_of(a), title_of(b));
    return filled(said("titles", "{} and {}"), in_folder(a), in_folder(b));
}

/// Two plans of one scenario are named by their different words, if there are any.
std::string title_of_plans(const Shown& a, const Shown& b) {
    const std::string scenario = a.plan ? title_of(a.plan->file) : a.file;
    const auto words = [](const Shown& of) { return of.plan ? of.plan->picture.subtitle : ""; };
    const std::string of_a = picture::only_in(words(a), words(b));
    const std::string of_b = picture::only_in(words(b), words(a));
    if (of_a.empty() && of_b.empty())
        return filled(said("titles", "{}, {} and {}"), scenario, a.file, b.file);
    return filled(said("titles", "{}: {} and {}"), scenario, of_a.empty() ? a.file : of_a,
                  of_b.empty() ? b.file : of_b);
}

}  // namespace

std::string title_of(const Screen& screen) {
    return std::visit(Overloaded{
                          [](const on_screen::Nothing&) { return std::string(); },
                          [](const on_screen::Plan& plan) { return title_of(plan.file); },
                          [](const on_screen::Trace& trace) { return title_of(trace.trace.file); },
                          [](const on_screen::Comparison& both) {
                              switch (both.compares) {
                                  case Compares::Files:
                                      return title_of_files(both.a.file, both.b.file);
                                  case Compares::Plans: return title_of_plans(both.a, both.b);
                                  case Compares::Run: break;
                              }
                              return filled(
                                  said("titles", "{}, predicted and executed"),
                                  both.a.plan ? title_of(both.a.plan->file) : both.a.file);
                          },
                      },
                      screen);
}

Document document_of(const Screen& screen) {
    return std::visit(
        Overloaded{
            [](const on_screen::Nothing&) { return Document(); },
            [](const on_screen::Plan& plan) { return plan.plan ? plan.plan->document : nullptr; },
            [](const on_screen::Trace& trace) { return trace.trace.document; },
            [](const on_screen::Comparison& both) { return both.a.document; },
        },
        screen);
}

std::shared_ptr<const PredictedPlan> plan_of(const Screen& screen) {
    if (const auto* shown = std::get_if<on_screen::Plan>(&screen)) return shown->plan;
    if (const auto* both = std::get_if<on_screen::Comparison>(&screen)) return both->a.plan;
    return nullptr;
}

picture::ChangeWords change_of(const Screen& screen) {
    const auto* shown = std::get_if<on_screen::Plan>(&screen);
    if (shown == nullptr || !shown->plan || !shown->ghost) return {};
    const sim::Prediction& now = shown->plan->prediction;
    const sim::Prediction& before = shown->ghost->prediction;
    const double longer = now.step_time_s - before.step_time_s;
    using enum picture::Verdict;
    return {delta_line(before, now), !now.fits || longer > 0 ? Worse
                                     : longer < 0            ? Better
                                                             : Neither};
}

std::string view_name_of(const Screen& screen) {
    return std::visit(Overloaded{
                          [](const on_screen::Nothing&) { return std::string(); },
                          [](const on_screen::Plan& plan) { return plan.file; },
                          [](const on_screen::Trace& trace) { return trace.trace.file; },
                          [](const on_screen::Comparison& both) {
                              // Rows and colours of a comparison with the plan are neither the
                              // plan's nor kept.
                              return both.compares == Compares::Files
                                         ? both.a.file + '|' + both.b.file
                                         : std::string();
                          },
                      },
                      screen);
}

std::vector<SummaryRow> figures_of(const Screen& screen) {
    if (const auto* shown = std::get_if<on_screen::Plan>(&screen); shown != nullptr && shown->plan)
        return figures_of(Shown{shown->plan->document, shown->plan->file, shown->plan});
    if (const auto* trace = std::get_if<on_screen::Trace>(&screen)) return figures_of(trace->trace);
    if (const auto* both = std::get_if<on_screen::Comparison>(&screen)) return figures_of(both->a);
    return {};
}

std::vector<SummaryRow> figures_of(const Shown& shown) {
    const TimelineDocument& document = *shown.document;
    const DurationByKind exposed = exposed_sums(document).by_kind;
    if (shown.plan) {
        std::vector<SummaryRow> rows =
            summary_of(shown.plan->prediction, document.statistics, document.memory_limit, exposed);
        for (SummaryRow& row : network_rows(shown.plan->scenario.model))
            rows.push_back(std::move(row));
        return rows;
    }
    return summary_of(document.trace, document.statistics, document.memory_limit, exposed);
}

void Desk::open_plan(std::string file) {
    lay_aside();
    plan_ = on_screen::Plan{std::move(file), nullptr, nullptr};
    screen_ = *plan_;
}

void Desk::predicted(std::shared_ptr<const PredictedPlan> plan,
                     std::shared_ptr<const PredictedPlan> ghost) {
    if (!plan_) return;
    if (plan) {
        plan_->plan = std::move(plan);
        plan_->ghost = std::move(ghost);
    }
    if (edits()) show_plan();
}

void Desk::renamed(std::string file) {
    if (!plan_) return;
    plan_->file = std::move(file);
    if (std::holds_alternative<on_screen::Plan>(screen_)) screen_ = *plan_;
}

bool Desk::show(const Opened& opened) {
    if (opened.traces.size() == 1) {
        const auto* before = std::get_if<on_screen::Trace>(&screen_);
        const Shown& now = opened.traces[0];
        const bool other_step = before != nullptr && now.steps && before->trace.steps == now.steps;
        if (!other_step) lay_aside();
        screen_ = on_screen::Trace{opened.traces[0]};
        return true;
    }
    if (opened.traces.size() != 2) return false;
    const Shown& a = opened.traces[0];
    const bool changed = !plan_ || plan_->plan != a.plan;
    if (opened.compares == Compares::Plans && changed) return false;
    lay_aside();
    screen_ = on_screen::Comparison{opened.compares,   a,
                                    opened.traces[1],  opened.pairing,
                                    opened.comparison, is_of_open_plan(a)};
    return true;
}

void Desk::show_plan() {
    assert(plan_ && "no scenario is open");
    lay_aside();
    screen_ = *plan_;
}

void Desk::show_aside() {
    assert(aside_ && "nothing was laid aside");
    Screen front = *std::exchange(aside_, std::nullopt);
    lay_aside();
    screen_ = std::move(front);
    if (auto* both = std::get_if<on_screen::Comparison>(&screen_))
        both->of_open_plan = is_of_open_plan(both->a);
}

/// Keeps a trace or a comparison that leaves the screen. A comparison of two plans is not kept,
/// since it is made again.
void Desk::lay_aside() {
    const auto* both = std::get_if<on_screen::Comparison>(&screen_);
    const bool compares_plans = both != nullptr && both->compares == Compares::Plans;
    if (std::holds_alternative<on_screen::Trace>(screen_) || (both != nullptr && !compares_plans))
        aside_ = std::move(screen_);
}

bool Desk::is_of_open_plan(const Shown& shown) const {
    return plan_ && shown.plan && shown.plan->file == plan_->file;
}

bool Desk::edits() const {
    if (std::holds_alternative<on_screen::Plan>(screen_)) return true;
    const auto* both = std::get_if<on_screen::Comparison>(&screen_);
    return both != nullptr && both->of_open_plan;
}

bool Desk::can_show_plan() const {
    return plan_ && !std::holds_alternative<on_screen::Plan>(screen_);
}

bool Desk::shows_text_of(const std::string& file) const {
    return plan_ && !file.empty() && plan_->file == file;
}

}  // namespace debubble::gui
