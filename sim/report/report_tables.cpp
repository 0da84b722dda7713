#include "sim/report/report.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "base/units.h"
#include "sim/explain/communication.h"
#include "sim/network/group.h"
#include "text/wording.h"

namespace debubble::sim {
namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

/// A row of the table of ranks, without the rank and its stages.
struct RankRow {
    std::string times;
    std::string peak;
    std::string op;
    bool over = false;  ///< exceeds the memory of its device

    static std::string without_digits(std::string text) {
        std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
        return text;
    }
    /// The same except for the peak's size, and for the numbers of stages and microbatches at it.
    bool is_like(const RankRow& other) const {
        return times == other.times && over == other.over &&
               without_digits(op) == without_digits(other.op);
    }
};

RankRow row_of(const RankPrediction& r, const Prediction& p, Bytes memory_limit) {
    const text::TimeUnit unit = text::unit_of(p.step_time_s);
    const auto cell = [&](double s) { return text::time_text(s, unit); };
    return {fmt::format("{:>11}{:>11}{:>11}{:>11}", cell(r.busy_s), cell(r.exposed_comm_s),
                        cell(r.optimizer_s), cell(r.idle_s)),
            text::gib_text(r.peak_memory), r.peak_op, r.needs() + p.headroom > memory_limit};
}

/// The one line for ranks that are like `first`.
std::string folded(std::span<const RankPrediction> ranks, const RankRow& first) {
    const auto [least, most] =
        std::ranges::minmax(ranks, {}, [](const RankPrediction& r) { return r.peak_memory; });
    const std::string low = text::gib_text(least.peak_memory);
    const std::string high = text::gib_text(most.peak_memory);
    std::string words = fmt::format("      ranks {} to {} identical", ranks.front().rank.index,
                                    ranks.back().rank.index);
    if (low != high) return words + fmt::format(" but for peaks of {} to {} GiB", low, high);
    return low == first.peak ? words : words + fmt::format(" but for a peak of {} GiB", low);
}

}  // namespace

std::string groups_across_nodes(const scenarios::Scenario& scenario) {
    std::string inside;
    std::string across;
    for (const PlacedGroup& group : placed_groups(scenario)) {
        std::string& list = group.at.nodes > 1 ? across : inside;
        list += fmt::format("{}{} {}", list.empty() ? "" : ", ", group.name, group.at.size);
        if (group.at.nodes > 1) list += fmt::format(" over {} nodes", group.at.nodes);
    }
    if (across.empty()) return {};
    const std::string within = inside.empty() ? "" : fmt::format("in a node: {}; ", inside);
    return fmt::format("{}across nodes: {}", within, across);
}

std::vector<TableLine> communication_table(const Prediction& p) {
    const TimeByKind mean = mean_communication(p);
    if (std::ranges::all_of(mean, [](const KindTime& time) { return time.bytes == 0; })) return {};
    double waits = 0;
    for (const RankPrediction& rank : p.ranks) waits += rank.waits_for_links_s;
    waits /= static_cast<double>(p.ranks.size());
    const text::TimeUnit unit = text::unit_of(p.step_time_s);
    std::vector<TableLine> lines{
        {fmt::format("{:<28}{:>11}{:>11}{:>13}{:>13}", "Communication, mean", "exposed", "hidden",
                     "size", "GB/s")}};
    for (std::size_t k = 0; k < mean.size(); ++k) {
        const auto kind = static_cast<CommunicationKind>(k);
        KindTime time = mean[k];
        if (time.bytes == 0 && time.seconds() == 0) continue;
        const Bytes size{std::llround(time.bytes)};
        std::string row = fmt::format(
            "  {:<26}{:>11}{:>11}{:>13}", words_of(kind), text::time_text(time.exposed, unit),
            text::time_text(time.hidden, unit),
            size.count < kMebibyte ? fmt::format("{} B", size.count) : text::size_text(size));
        // A rank that waits for a message is idle.
        const bool idles = kind == CommunicationKind::Pipeline && waits > 0;
        if (idles) time.exposed += waits;
        row += fmt::format("{:>13.1f}", rate_of(time) / 1e9);
        if (idles) row += fmt::format("  {} idle", text::time_text(waits, unit));
        lines.push_back({std::move(row)});
    }
    return lines;
}

std::vector<TableLine> rank_table(const Prediction& p, Bytes memory_limit) {
    constexpr std::size_t kFew = 2;  // ranks that are not folded
    if (p.ranks.empty()) return {};
    std::vector<TableLine> lines{
        {fmt::format("{:>4}  {:<12}{:>11}{:>11}{:>11}{:>11}{:>10}  {}", "rank", "stages", "busy",
                     "exposed", "optimizer", "idle", "peak GiB", "at")}};
    const std::span<const RankPrediction> ranks(p.ranks);
    std::size_t i = 0;
    for (std::size_t shown = 0; i < ranks.size() && shown < text::kTableRows; ++shown) {
        const RankRow row = row_of(ranks[i], p, memory_limit);
        const std::string words = fmt::format(
            "{:>4}  {:<12}{}{:>10}  {}", ranks[i].rank.index,
            text::shortened(text::stages_text(ranks[i].stages), 11), row.times, row.peak, row.op);
        lines.push_back({text::shortened(words, text::kReportColumns), row.over});
        std::size_t end = ++i;
        while (end < ranks.size() && row_of(ranks[end], p, memory_limit).is_like(row)) ++end;
        if (end - i < kFew) continue;
        lines.push_back({folded(ranks.subspan(i, end - i), row), row.over});
        i = end;
    }
    if (i < ranks.size())
        lines.push_back(
            {fmt::format("      ... {} more ranks; --json has all of them", ranks.size() - i)});
    return lines;
}

}  // namespace debubble::sim
