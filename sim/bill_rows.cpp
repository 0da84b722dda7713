#include "sim/bill_rows.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/predict.h"
#include "text/wording.h"
#include "trace/picture/bubbles.h"

namespace debubble::sim {
namespace {

/// The colours that the parts have in the lanes and in the bars beside them.
Rgb colour_of_part(const std::string& key, picture::Theme theme) {
    using picture::paint;
    if (key == "ideal") return picture::ground_of(theme).better;
    if (key == "kernels") return paint(Paint::Forward, theme);
    if (key == "recompute") return paint(Paint::Backward, theme);
    if (key == "optimizer") return paint(Paint::Optimizer, theme);
    if (key.starts_with("exposed")) return paint(Paint::Collective, theme);
    constexpr std::array<std::pair<std::string_view, BubbleCause>, 7> kIdle{{
        {"host", BubbleCause::Launch},
        {"warm_up", BubbleCause::WarmUp},
        {"cool_down", BubbleCause::CoolDown},
        {"stage", BubbleCause::OtherStage},
        {"collective", BubbleCause::Collective},
        {"uneven_load", BubbleCause::UnevenLoad},
        {"optimizer_barrier", BubbleCause::Optimizer},
    }};
    for (const auto& [name, cause] : kIdle)
        if (key == name) return picture::bubble_colours(cause, theme).line;
    return picture::bubble_colours(BubbleCause::UnevenLoad, theme).line;  // uneven stages
}

std::string free_text(const BillPart& part, Duration step) {
    if (!part.if_free) return {};
    const double less = 1 - seconds(*part.if_free) / std::max(seconds(step), 1e-12);
    const std::string time = text::time_text(*part.if_free);
    if (less < 0.0005) return time + ", no shorter";
    return fmt::format("{}, {} shorter", time, text::percent(less));
}

}  // namespace

std::vector<BillRow> bill_rows(const Bill& bill) {
    const double step = std::max(seconds(bill.step), 1e-12);
    std::vector<BillRow> rows;
    Duration before{};
    for (const BillPart& part : bill.parts) {
        const Duration after = before + part.takes;
        const double begin = seconds(before) / step;
        const double end = seconds(after) / step;
        rows.push_back({part.key, part.words,
                        fmt::format("{}, {}", text::time_text(part.takes),
                                    text::percent(seconds(part.takes) / step)),
                        std::min(begin, end), std::max(begin, end), free_text(part, bill.step),
                        part.freed, colour_of_part(part.key, picture::Theme::Light),
                        colour_of_part(part.key, picture::Theme::Dark)});
        before = after;
    }
    rows.push_back({{},
                    "step",
                    text::time_text(bill.step),
                    0,
                    1,
                    {},
                    {},
                    picture::ground_of(picture::Theme::Light).memory_lasting,
                    picture::ground_of(picture::Theme::Dark).memory_lasting,
                    true});
    return rows;
}

Bill bill_of_plan(const scenarios::Scenario& scenario, const std::stop_token& stop) {
    PredictOptions options;
    options.keep_trace = false;
    options.hash_program = false;
    options.explain = false;
    options.play_allocator = false;
    options.bill = true;
    options.stop = stop;
    return *predict(scenario, options).bill;
}

}  // namespace debubble::sim
