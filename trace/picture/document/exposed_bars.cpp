#include "trace/picture/document/exposed_bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/overloaded.h"

namespace debubble::picture {
namespace {

/// Adds the collectives and copies that run within a stretch where the device does nothing else.
/// The last to begin is taken where several do.
void add_gathers(Bars& between, const Device& device, TimeRange free) {
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

void add_compute(WorkArea& work, const Compute& c, std::int64_t ns) {
    WorkKind kind = WorkKind::Forward;
    switch (c.pass) {
        case Pass::Forward: break;
        case Pass::Backward:
        case Pass::BackwardInput: kind = WorkKind::Backward; break;
        case Pass::BackwardWeight: kind = WorkKind::Weight; break;
    }
    work[static_cast<std::size_t>(kind)] += ns;
}

}  // namespace

WorkArea work_of(const Span& span, Duration length) {
    WorkArea work{};
    const auto exposed =
        static_cast<std::int64_t>(std::llround(exposed_share(span) * seconds(length) * 1e9));
    work[static_cast<std::size_t>(WorkKind::Exposed)] = exposed;
    const std::int64_t rest = length.count() - exposed;
    std::visit(
        Overloaded{
            [&](const Compute& c) { add_compute(work, c, rest); },
            [&](const Overlap& both) {
                add_compute(work, both.first, rest - rest / 2);
                add_compute(work, both.second, rest / 2);
            },
            [&](const Recompute&) { work[static_cast<std::size_t>(WorkKind::Forward)] += rest; },
            [&](const auto&) { work[static_cast<std::size_t>(WorkKind::Optimizer)] += rest; },
        },
        span.action);
    return work;
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
    // Between two bars lie bubbles, and what is exposed between these.
    const auto gap = [&](Instant from, Instant until) {
        while (bubble < bubbles.size() && bubbles[bubble].end <= from) ++bubble;
        for (; bubble < bubbles.size() && bubbles[bubble].begin < until; ++bubble) {
            add_gathers(between, device, {from, std::max(from, bubbles[bubble].begin)});
            from = std::max(from, bubbles[bubble].end);
        }
        add_gathers(between, device, {from, std::max(from, until)});
    };
    Instant free = range.begin;
    for (const Bar& bar : device.work) {
        gap(free, bar.begin);
        free = std::max(free, bar.end);
    }
    gap(free, range.end);
    return between;
}

DurationByKind exposed_by_kind(const Trace& trace, const Device& device) {
    DurationByKind sums{};
    const auto add = [&](const Bars& bars) {
        for (const Bar& bar : bars)
            for (std::size_t k = 0; k < sums.size(); ++k)
                sums[k] += trace.spans[bar.span].exposed_by[k];
    };
    add(device.work);
    const RankStatistics& rank = *device.statistics;
    constexpr std::array<CommunicationKind, kBetween> kKinds{
        CommunicationKind::Data, CommunicationKind::Pipeline, CommunicationKind::Host};
    const double all = seconds(std::accumulate(rank.exposed_between_by.begin(),
                                               rank.exposed_between_by.end(), Duration{}));
    // Where steps run into each other, less is exposed than in the one that is drawn.
    const double kept = all > 0 ? seconds(rank.exposed_between) / all : 0;
    for (std::size_t b = 0; b < kBetween; ++b)
        sums[static_cast<std::size_t>(kKinds[b])] +=
            from_seconds(kept * seconds(rank.exposed_between_by[b]));
    return sums;
}

WorkSums work_sums(const Trace& trace, const Device& device) {
    std::vector<WorkSums::Piece> pieces;
    pieces.reserve(device.work.size() + device.between.size());
    for (const Bar& bar : device.work) {
        const Span& span = trace.spans[bar.span];
        pieces.push_back({bar.range(), work_of(span, bar.end - bar.begin)});
    }
    for (const Bar& bar : device.between) {
        WorkArea work{};
        work[static_cast<std::size_t>(WorkKind::Exposed)] = (bar.end - bar.begin).count();
        pieces.push_back({bar.range(), work});
    }
    const auto begin_of = [](const WorkSums::Piece& piece) { return piece.range.begin; };
    std::ranges::inplace_merge(pieces,
                               pieces.begin() + static_cast<std::ptrdiff_t>(device.work.size()),
                               std::ranges::less{}, begin_of);
    return WorkSums(pieces);
}

}  // namespace debubble::picture
