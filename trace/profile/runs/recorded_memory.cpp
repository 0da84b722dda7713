#include "trace/profile/memory_curve.h"

#include <algorithm>
#include <map>

namespace debubble::profile {
namespace {

std::int64_t greatest(const RecordedMemory& recorded) {
    std::int64_t most = 0;
    for (const MemoryPoint& point : recorded.points) most = std::max(most, point.held);
    return most;
}

/// The points within the spans, of which the first one applies from the trace's begin on.
std::vector<MemoryPoint> within(const std::vector<MemoryPoint>& points, std::int64_t end) {
    std::vector<MemoryPoint> out;
    for (const MemoryPoint& point : points) {
        if (point.at > end) break;
        if (point.at <= 0) out.clear();
        out.push_back({std::max<std::int64_t>(0, point.at), point.held});
    }
    return out;
}

MemoryPeak peak_of(const Trace& trace, Rank rank, const std::vector<MemoryPoint>& points) {
    const auto most = std::ranges::max_element(points, {}, &MemoryPoint::held);
    MemoryPeak peak;
    peak.at = Instant{Duration{most->at}};
    peak.held[MemoryClass::Activations] = Bytes{most->held};
    for (const Span& span : trace.spans)
        if (span.rank == rank && span.lane == Lane::Compute && span.begin <= peak.at &&
            peak.at <= span.end)
            peak.action = to_text(span.action);
    return peak;
}

}  // namespace

void add_recorded_memory(Trace& trace, const std::vector<RecordedMemory>& recorded) {
    if (trace.spans.empty()) return;
    Instant end{};
    for (const Span& span : trace.spans) end = std::max(end, span.end);
    std::map<Rank, const RecordedMemory*> of_rank;
    for (const RecordedMemory& one : recorded) {
        if (one.points.empty()) continue;
        const RecordedMemory*& best = of_rank[one.rank];
        if (best == nullptr || greatest(one) > greatest(*best)) best = &one;
    }
    for (const auto& [rank, one] : of_rank) {
        const auto points = within(one->points, end.time_since_epoch().count());
        if (points.empty()) continue;
        for (const MemoryPoint& point : points)
            trace.memory.push_back(
                {Instant{Duration{point.at}}, Bytes{point.held}, rank, MemoryClass::Activations});
        trace.peaks.push_back(peak_of(trace, rank, points));
    }
    if (std::ssize(trace.peaks) != trace.header.pipeline) trace.peaks.clear();
}

}  // namespace debubble::profile
