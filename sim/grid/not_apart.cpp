#include "sim/grid/compare_plans.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/plan/residuals.h"

namespace debubble::sim {
namespace {

constexpr std::size_t kWorthMeasuring = 3;
constexpr std::string_view kSamePlan = "training.";  ///< keys of neither partition nor schedule

/// The throughput if the step took one end of its range.
double throughput_at(const SweepRow& row, std::string_view end) {
    return row.figure("tokens_per_s") * row.figure("step_time_s") / row.figure(end);
}

bool is_cut_alike(const SweepRow& a, const SweepRow& b, std::span<const std::string> keys) {
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (a.values[i] != b.values[i] && !keys[i].starts_with(kSamePlan)) return false;
    return true;
}

std::string point_words(const SweepRow& row, std::span<const std::string> keys) {
    std::string words;
    for (std::size_t i = 0; i < keys.size(); ++i)
        words += fmt::format("{}{}={}", i > 0 ? "; " : "", keys[i], row.values[i]);
    return words;
}

}  // namespace

NotApart not_apart_from_best(std::span<const SweepRow* const> fastest_first,
                             std::span<const std::string> keys) {
    NotApart result;
    if (fastest_first.empty()) return result;
    const SweepRow& best = *fastest_first.front();
    const double least = throughput_at(best, "step_time_high_s");
    if (std::isnan(least)) return result;
    result.worth_measuring.push_back(&best);
    for (const SweepRow* row : fastest_first.subspan(1)) {
        const double most = throughput_at(*row, "step_time_low_s");
        if (std::isnan(most) || most < least) continue;
        ++result.plans;
        const bool is_another = std::ranges::none_of(
            result.worth_measuring,
            [&](const SweepRow* other) { return is_cut_alike(*row, *other, keys); });
        if (is_another && result.worth_measuring.size() < kWorthMeasuring)
            result.worth_measuring.push_back(row);
    }
    return result;
}

std::string not_apart_text(const NotApart& plans, std::span<const std::string> keys,
                           const std::string& of) {
    if (plans.plans == 0) return "";
    std::string text = fmt::format(
        "\n{} other{} {} cannot be told from the best: the ranges in which {:.0f} % of measured "
        "steps "
        "like theirs lie overlap its own\n",
        plans.plans, plans.plans == 1 ? "" : "s", of, 100 * kResidualShare);
    if (plans.worth_measuring.size() < 2) return text;
    text += "worth measuring:\n";
    for (const SweepRow* row : plans.worth_measuring)
        text += fmt::format("  {:.4g} s ({:.4g} to {:.4g}): {}\n", row->figure("step_time_s"),
                            row->figure("step_time_low_s"), row->figure("step_time_high_s"),
                            point_words(*row, keys));
    return text;
}

}  // namespace debubble::sim
