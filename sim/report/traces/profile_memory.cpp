#include "sim/report/traces/profile_report.h"

#include <algorithm>
#include <map>

namespace debubble::sim {
namespace {

/// The sum of the classes after each sample of one rank, one point per instant.
std::vector<HeldBytes> sums_of(const std::vector<MemorySample>& samples) {
    std::vector<HeldBytes> out;
    std::map<MemoryClass, Bytes> now;
    Bytes sum{};
    for (const MemorySample& sample : samples) {
        Bytes& own = now[sample.held_as];
        sum.count += sample.held.count - own.count;
        own = sample.held;
        if (out.empty() || out.back().at != sample.at)
            out.push_back({sample.at, sum});
        else
            out.back().held = sum;
    }
    return out;
}

/// The greatest of neighbouring points.
std::vector<HeldBytes> thinned(const std::vector<HeldBytes>& points) {
    const std::size_t each = (points.size() + kMostHeldPoints - 1) / kMostHeldPoints;
    if (each < 2) return points;
    std::vector<HeldBytes> out;
    for (std::size_t i = 0; i < points.size(); i += each) {
        const auto from = points.begin() + static_cast<std::ptrdiff_t>(i);
        const auto count = static_cast<std::ptrdiff_t>(std::min(each, points.size() - i));
        out.push_back(*std::max_element(
            from, from + count, [](const auto& a, const auto& b) { return a.held < b.held; }));
    }
    return out;
}

std::string action_at(const Trace& trace, Rank rank, Instant at) {
    std::string out;
    for (const Span& span : trace.spans)
        if (span.rank == rank && span.lane == Lane::Compute && span.begin <= at && at <= span.end)
            out = to_text(span.action);
    return out;
}

}  // namespace

std::vector<RankMemory> memory_of_ranks(const Trace& trace) {
    std::map<Rank, std::vector<MemorySample>> samples;
    for (const MemorySample& sample : trace.memory) samples[sample.rank].push_back(sample);
    std::vector<RankMemory> out;
    for (const auto& [rank, own] : samples) {
        RankMemory memory{rank, {}, {}, {}, {}};
        const std::vector<HeldBytes> points = sums_of(own);
        const auto most = std::ranges::max_element(
            points, [](const auto& a, const auto& b) { return a.held < b.held; });
        memory.peak = most->held;
        memory.at = most->at;
        memory.action = action_at(trace, rank, most->at);
        memory.held = thinned(points);
        const std::size_t index = rank.index;
        if (index < trace.peaks.size()) {  // it includes the level inside actions
            const MemoryPeak& peak = trace.peaks[index];
            memory.peak = total(peak.held);
            memory.at = peak.at;
            memory.action = peak.action;
        }
        out.push_back(std::move(memory));
    }
    return out;
}

}  // namespace debubble::sim
