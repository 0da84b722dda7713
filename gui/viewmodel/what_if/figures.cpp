#include "gui/viewmodel/what_if/figures.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "gui/viewmodel/timeline/wording.h"
#include "gui/viewmodel/timeline/words.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "sim/explain/communication.h"
#include "sim/report/reference/model_table.h"
#include "sim/report/report.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

/// A change such as "33.1 -> 17.0 %", or "17.0 %" if both read the same.
std::string change(const std::string& before, const std::string& now, const char* unit) {
    if (before == now) return fmt::format("{} {}", now, unit);
    return fmt::format("{} -> {} {}", before, now, unit);
}

std::string points(double fraction) {
    return fmt::format("{:.1f}", 100 * fraction);
}

/// The verdict on whether the plan fits, and its change.
std::string fitting(const sim::Prediction& before, const sim::Prediction& now) {
    using enum sim::MemoryVerdict;
    if (now.memory_verdict == CannotBeTold)
        return now.fits ? said("figures", "fits within the error")
                        : said("figures", "does not fit, within the error");
    if (!now.fits)
        return before.fits ? said("figures", "no longer fits") : said("figures", "does not fit");
    return before.fits ? said("figures", "fits") : said("figures", "fits now");
}

class Summary {
public:
    void headline(std::string name) { rows_.push_back({std::move(name), {}, false, {}, {}}); }
    void row(std::string name, std::string value, bool bad = false, std::string more = {}) {
        rows_.push_back({std::move(name), std::move(value), bad, {}, std::move(more)});
    }
    void share(std::string name, Duration part, Duration whole) {
        const double of = whole > Duration{} ? seconds(part) / seconds(whole) : 0;
        rows_.push_back({std::move(name), text::percent(of), false, of, {}});
    }

    /// Adds the parts of a step, as means over the ranks.
    void step(const Statistics& statistics, const DurationByKind& exposed_by) {
        Duration busy{};
        Duration exposed{};
        Duration optimizer{};
        Duration idle{};
        for (const RankStatistics& rank : statistics.ranks) {
            busy += rank.busy;
            exposed += rank.exposed;
            optimizer += rank.optimizer;
            idle += rank.idle;
        }
        const Duration whole = busy + exposed + optimizer + idle;
        headline(said("figures", "Where the step goes"));
        share(said("figures", "compute"), busy, whole);
        share(said("figures", "exposed communication"), exposed, whole);
        for (std::size_t k = 0; k < kCommunicationKinds; ++k)
            if (exposed_by[k] > Duration{})
                share(filled(said("figures", "exposed: {}"),
                             said("kinds", sim::words_of(static_cast<CommunicationKind>(k)))),
                      exposed_by[k], whole);
        share(said("figures", "optimizer"), optimizer, whole);
        const auto causes = idle_by_cause(statistics);
        for (std::size_t i = 0; i < kBubbleCauses; ++i)
            if (causes[i] > Duration{})
                share(filled(said("figures", "idle: {}"), said_cause(static_cast<BubbleCause>(i))),
                      causes[i], whole);
    }

    /// Adds a peak. `reserved` is the allocator's memory, 0 if it is not known.
    void peak(Rank rank, Bytes held, const std::string& at, std::optional<Bytes> limit,
              Bytes reserved = {}, Bytes headroom = {}) {
        const bool over = limit && std::max(held, reserved) + headroom > *limit;
        std::string place = at;
        if (reserved.count > 0)
            place += filled(said("figures", "; {} reserved"), text::gib_text(reserved));
        row(filled(said("figures", "rank {}"), rank.index),
            limit ? filled(said("figures", "{} of {} GiB at {}"), text::gib_text(held),
                           text::gib_text(*limit), place)
                  : filled(said("figures", "{} GiB at {}"), text::gib_text(held), place),
            over);
    }

    std::vector<SummaryRow> done() { return std::move(rows_); }

private:
    std::vector<SummaryRow> rows_;
};

}  // namespace

Bytes worst_peak(const sim::Prediction& prediction) {
    Bytes worst;
    for (const sim::RankPrediction& rank : prediction.ranks)
        worst = std::max(worst, rank.peak_memory);
    return worst;
}

std::string delta_line(const sim::Prediction& before, const sim::Prediction& now) {
    const double step = now.step_time_s / before.step_time_s - 1;
    if (step == 0 && now.bubble == before.bubble && worst_peak(before) == worst_peak(now) &&
        before.fits == now.fits && before.memory_verdict == now.memory_verdict)
        return said("figures", "no change");
    return filled(said("figures", "step {:+.1f} %, bubble {}, peak {}, {}"), 100 * step,
                  change(points(before.bubble), points(now.bubble), "%"),
                  change(fmt::format("{:.1f}", gib(worst_peak(before))),
                         fmt::format("{:.1f}", gib(worst_peak(now))), "GiB"),
                  fitting(before, now));
}

std::vector<SummaryRow> summary_of(const sim::Prediction& p, const Statistics& statistics,
                                   std::optional<Bytes> limit, const DurationByKind& exposed) {
    Summary summary;
    summary.row(said("figures", "step time"), text::time_text(p.step_time_s));
    if (p.range)
        summary.row(said("figures", "range"),
                    filled(said("figures", "{} to {}"), text::time_text(p.range->low_s),
                           text::time_text(p.range->high_s)),
                    false, sim::range_words(*p.range, p.step_time_s));
    summary.row(said("figures", "throughput"),
                fmt::format("{} tokens/s", text::rate_text(p.tokens_per_s)));
    summary.row(said("figures", "MFU"), p.mfu ? text::percent(*p.mfu) : said("figures", "unknown"));
    summary.row(said("figures", "MFU, causal"),
                p.mfu_causal ? text::percent(*p.mfu_causal) : said("figures", "unknown"));
    summary.row(said("figures", "HFU"), p.hfu ? text::percent(*p.hfu) : said("figures", "unknown"));
    summary.row(said("figures", "per GPU"), fmt::format("{:.1f} TFLOP/s", p.tflops_per_gpu));
    summary.row(said("figures", "bubble"),
                filled(said("figures", "{} (span {})"), text::percent(p.bubble),
                       text::percent(p.span_bubble)));
    const std::string fits = said("figures", sim::fits_text(p));
    if (p.fits)
        summary.row(said("figures", "memory"), fits, false);
    else
        summary.row(said("figures", "memory"),
                    filled(said("figures", "{}: {} GiB too much"), fits,
                           text::gib_text(Bytes{} - p.memory_left)),
                    true, fits + ": " + p.reason);
    if (p.memory_range)
        summary.row(said("figures", "published peaks"),
                    filled(said("figures", "{} to {} GiB"), text::gib_text(p.memory_range->low),
                           text::gib_text(p.memory_range->high)),
                    false, sim::memory_range_words(*p.memory_range));
    if (p.headroom.count > 0)
        summary.row(said("figures", "headroom"), fmt::format("{} GiB", text::gib_text(p.headroom)));
    if (p.fits && !p.ranks.empty())
        summary.row(said("figures", "memory left"),
                    fmt::format("{} GiB", text::gib_text(p.memory_left)));
    summary.row(said("figures", "parameters"), text::count_text(p.parameters));
    summary.step(statistics, exposed);
    summary.headline(said("figures", "Peak memory"));
    for (const sim::RankPrediction& rank : p.ranks)
        summary.peak(rank.rank, rank.peak_memory, rank.peak_op, limit,
                     rank.reserved.value_or(Bytes{}), p.headroom);
    if (!p.notes.empty()) summary.headline(said("figures", "Notes"));
    for (const std::string& note : p.notes) summary.row("", note);
    return summary.done();
}

std::vector<SummaryRow> network_rows(const models::Architecture& a) {
    Summary summary;
    summary.headline(said("figures", "Network"));
    if (a.has_experts())
        summary.row(said("figures", "for one token"),
                    filled(said("figures", "{} parameters"),
                           text::count_text(models::active_parameter_count(a))));
    for (const sim::LayerKind& kind : sim::layer_kinds(a)) summary.row(kind.name(), kind.words);
    return summary.done();
}

std::vector<ComparedRow> compared(const std::vector<SummaryRow>& a,
                                  const std::vector<SummaryRow>& b) {
    std::vector<ComparedRow> rows;
    for (const SummaryRow& row : a)
        if (!row.name.empty()) rows.push_back({row.name, row.value, {}, row.value.empty()});
    std::size_t place = 0;  // position after the previous row of B
    for (const SummaryRow& row : b) {
        if (row.name.empty()) continue;
        const auto same = std::ranges::find(rows, row.name, &ComparedRow::name);
        if (same != rows.end()) {
            same->b = row.value;
            place = same - rows.begin() + 1;
        } else {
            rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(place++),
                        {row.name, {}, row.value, row.value.empty()});
        }
    }
    return rows;
}

std::vector<SummaryRow> summary_of(const Trace& trace, const Statistics& statistics,
                                   std::optional<Bytes> limit, const DurationByKind& exposed) {
    Summary summary;
    const TraceHeader& header = trace.header;
    summary.row(said("figures", "trace"),
                fmt::format("{} ({})", header.scenario, header.source_name()));
    summary.row(said("figures", "step time"),
                text::time_text(seconds(header.step_time.value_or(statistics.step))));
    summary.row(said("figures", "bubble"),
                filled(said("figures", "{} (span {})"), text::percent(statistics.bubble),
                       text::percent(statistics.span_bubble)));
    summary.row(said("figures", "program"), header.program_hash.substr(0, 12));
    summary.step(statistics, exposed);
    if (!trace.peaks.empty()) summary.headline(said("figures", "Peak memory"));
    for (std::size_t i = 0; i < trace.peaks.size(); ++i) {
        Bytes held;
        for (const Bytes part : trace.peaks[i].held) held += part;
        summary.peak(Rank{static_cast<int>(i)}, held,
                     trace.peaks[i].action + ' ' + trace.peaks[i].op, limit);
    }
    return summary.done();
}

}  // namespace debubble::gui
