#include <algorithm>
#include <map>
#include <utility>

#include "sim/uneven/uneven_steps.h"

namespace debubble::sim {
namespace {

/// A wait of a rank for another one's compute, identified by that compute, which it awaits once in
/// a step.
using Wait = std::pair<Rank, Action>;

bool is_wait(const Bubble& bubble, const Trace& trace) {
    return bubble.cause == BubbleCause::OtherStage && bubble.waited_for < trace.spans.size();
}

std::map<Wait, Duration> waits_of(const Statistics& statistics, const Trace& trace) {
    std::map<Wait, Duration> waits;
    for (const Bubble& bubble : statistics.bubbles)
        if (is_wait(bubble, trace))
            waits[{bubble.rank, trace.spans[bubble.waited_for].action}] +=
                bubble.end - bubble.begin;
    return waits;
}

}  // namespace

void blame_uneven_loads(Statistics& statistics, const Trace& trace, const Statistics& even,
                        const Trace& even_trace) {
    std::map<Wait, Duration> expected = waits_of(even, even_trace);
    std::vector<Bubble> bubbles;
    for (Bubble bubble : statistics.bubbles) {
        Duration uneven{};
        if (is_wait(bubble, trace)) {
            Duration& left = expected[{bubble.rank, trace.spans[bubble.waited_for].action}];
            const Duration taken = std::min(left, bubble.end - bubble.begin);
            left -= taken;
            uneven = bubble.end - bubble.begin - taken;
        }
        const Instant from = bubble.end - uneven;
        if (bubble.begin < from) {
            bubbles.push_back(bubble);
            bubbles.back().end = from;
        }
        if (uneven == Duration{}) continue;
        bubble.begin = from;
        bubble.cause = BubbleCause::UnevenLoad;
        bubbles.push_back(bubble);
        const auto row =
            std::ranges::lower_bound(statistics.ranks, bubble.rank, {}, &RankStatistics::rank);
        const auto at = [&](BubbleCause cause) -> Duration& { return row->idle_by_cause[cause]; };
        at(BubbleCause::OtherStage) -= uneven;
        at(BubbleCause::UnevenLoad) += uneven;
    }
    statistics.bubbles = std::move(bubbles);
}

}  // namespace debubble::sim
