#include "sim/bill_rows.h"

#include <algorithm>

#include "sim/predict.h"
#include "trace/picture/bubbles.h"

namespace debubble::sim {
namespace {

/// The colours that the parts have in the lanes and in the bars beside them.
Rgb colour_of(const BillPart& part, picture::Theme theme) {
    using picture::paint;
    if (part.key == "ideal") return picture::ground_of(theme).better;
    if (part.key == "kernels") return paint(Paint::Forward, theme);
    if (part.key == "recompute") return paint(Paint::Backward, theme);
    if (part.key == "optimizer") return paint(Paint::Optimizer, theme);
    if (part.key.starts_with("exposed")) return paint(Paint::Collective, theme);
    // Uneven stages have idle time of several causes.
    return picture::bubble_colours(part.idle.value_or(BubbleCause::UnevenLoad), theme).line;
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
        rows.push_back({part,
                        seconds(part.takes) / step,
                        std::min(begin, end),
                        std::max(begin, end),
                        {},
                        colour_of(part, picture::Theme::Light),
                        colour_of(part, picture::Theme::Dark)});
        if (part.if_free) rows.back().shorter = 1 - seconds(*part.if_free) / step;
        before = after;
    }
    rows.push_back({{{}, "step", bill.step},
                    1,
                    0,
                    1,
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
