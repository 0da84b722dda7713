#include "trace/picture/document/exposed_bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/overloaded.h"

namespace debubble::picture {
namespace {

/// Adds the collectives and copies in an interval in which the device does nothing else. Of several
/// at once, it adds the one that began last.
void add_communication(Bars& between, const Device& device, TimeRange free) {
    const auto streams = [](const Stream& stream) {
        return stream.lane == Lane::Collective || stream.lane == Lane::Copy;
    };
    for (Instant at = free.begin; at < free.end;) {
        const Bar* running = nullptr;
        Instant next = free.end;
        for (const Stream& stream : device.streams) {
            if (!streams(stream)) continue;
            const auto [first, last] = bars_in(stream.bars, {at, free.end});
            if (first == last) continue;
            const Bar& bar = stream.bars[first];
            if (bar.begin <= at && (running == nullptr || running->begin < bar.begin))
                running = &bar;
            next = std::min(next, bar.begin > at ? bar.begin : bar.end);
        }
        if (running != nullptr) between.push_back({at, next, running->span});
        at = next;
    }
}

WorkKind kind_of(const Compute& c) {
    switch (c.pass) {
        case Pass::Forward: break;
        case Pass::Backward:
        case Pass::BackwardInput: return WorkKind::Backward;
        case Pass::BackwardWeight: return WorkKind::Weight;
    }
    return WorkKind::Forward;
}

}  // namespace

BarWork bar_work(const Span& span) {
    const Duration length = span.length();
    const Duration exposed{
        static_cast<std::int64_t>(std::llround(exposed_share(span) * seconds(length) * 1e9))};
    const auto of = [&](WorkKind first, WorkKind second) {
        return BarWork(exposed, length, first, second);
    };
    return std::visit(
        Overloaded{
            [&](const Compute& c) { return of(kind_of(c), kind_of(c)); },
            [&](const Overlap& both) { return of(kind_of(both.first), kind_of(both.second)); },
            [&](const Recompute&) { return of(WorkKind::Forward, WorkKind::Forward); },
            [&](const auto&) { return of(WorkKind::Optimizer, WorkKind::Optimizer); },
        },
        span.action);
}

double exposed_share(const Span& span) {
    if (span.end <= span.begin || span.exposed <= Duration{}) return 0;
    return std::min(1.0, seconds(span.exposed) / seconds(span.length()));
}

Bars exposed_between(const Device& device, std::span<const Bubble> bubbles, TimeRange range) {
    Bars between;
    if (device.statistics == nullptr || device.statistics->exposed_between <= Duration{})
        return between;
    std::size_t bubble = 0;
    // A gap between two bars consists of bubbles, and of exposed communication between these.
    const auto gap = [&](Instant from, Instant until) {
        while (bubble < bubbles.size() && bubbles[bubble].end <= from) ++bubble;
        for (; bubble < bubbles.size() && bubbles[bubble].begin < until; ++bubble) {
            add_communication(between, device, {from, std::max(from, bubbles[bubble].begin)});
            from = std::max(from, bubbles[bubble].end);
        }
        add_communication(between, device, {from, std::max(from, until)});
    };
    Instant free = range.begin;
    for (const Bar& bar : device.work) {
        gap(free, bar.begin);
        free = std::max(free, bar.end);
    }
    gap(free, range.end);
    return between;
}

void add_between_by_kind(DurationByKind& sums, const RankStatistics& rank) {
    constexpr std::array<CommunicationKind, kBetween> kKinds{
        CommunicationKind::Data, CommunicationKind::Pipeline, CommunicationKind::Host};
    const double all = seconds(std::accumulate(rank.exposed_between_by.begin(),
                                               rank.exposed_between_by.end(), Duration{}));
    // If consecutive steps overlap, less is exposed than in the single step of the trace.
    const double kept = all > 0 ? seconds(rank.exposed_between) / all : 0;
    for (std::size_t b = 0; b < kBetween; ++b)
        sums[kKinds[b]] += from_seconds(kept * seconds(rank.exposed_between_by[b]));
}

}  // namespace debubble::picture
