#include "sim/report/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text/wording.h"

namespace debubble::sim {
namespace {

constexpr double kWaterfallColumns = 24;

/// The columns of a bar between two instants of the step: at least one for a part that takes time.
std::string waterfall_bar(Duration before, Duration after, Duration step) {
    const auto column = [&](Duration at) {
        const double share = seconds(at) / std::max(seconds(step), 1e-12);
        return static_cast<std::size_t>(
            std::lround(kWaterfallColumns * std::clamp(share, 0.0, 1.0)));
    };
    const std::size_t from =
        std::min(column(std::min(before, after)), static_cast<std::size_t>(kWaterfallColumns) - 1);
    const std::size_t to = std::max(column(std::max(before, after)), from + 1);
    std::string bar(from, ' ');
    bar.append(to - from, '#');
    bar.resize(kWaterfallColumns, ' ');
    return bar;
}

}  // namespace

std::vector<TableLine> bill_table(const Bill& bill) {
    const text::TimeUnit unit = text::unit_of(seconds(bill.step));
    std::vector<TableLine> lines{
        {fmt::format("{:<40}{:>11}{:>8}  {:<24}{:>13}", "The bill, mean over the ranks", "time",
                     "share", "", "step if free")}};
    Duration before{};
    for (const BillPart& part : bill.parts) {
        const Duration after = before + part.takes;
        lines.push_back({fmt::format(
            "  {:<38}{:>11}{:>8}  {}{:>13}", part.words, text::time_text(seconds(part.takes), unit),
            text::percent(seconds(part.takes) / std::max(seconds(bill.step), 1e-12)),
            waterfall_bar(before, after, bill.step),
            part.if_free ? text::time_text(seconds(*part.if_free), unit) : "")});
        while (lines.back().words.ends_with(' ')) lines.back().words.pop_back();
        before = after;
    }
    lines.push_back(
        {fmt::format("  {:<38}{:>11}", "step", text::time_text(seconds(bill.step), unit))});
    return lines;
}

nlohmann::ordered_json bill_json(const Bill& bill) {
    using Json = nlohmann::ordered_json;
    Json parts = Json::array();
    for (const BillPart& part : bill.parts)
        parts.push_back({{"part", part.key},
                         {"words", part.words},
                         {"takes_ns", part.takes.count()},
                         {"share", seconds(part.takes) / std::max(seconds(bill.step), 1e-12)},
                         {"step_if_free_ns", part.if_free ? Json(part.if_free->count()) : Json()},
                         {"freed", part.freed.empty() ? Json() : Json(part.freed)}});
    return {{"step_ns", bill.step.count()}, {"parts", std::move(parts)}};
}

}  // namespace debubble::sim
