#include "trace/picture/document/similar_ranks.h"

#include <cmath>

namespace debubble::picture {

bool are_similar(const Device& a, const Device& b, Duration step) {
    if (a.work.size() != b.work.size()) return false;
    if (a.statistics == nullptr || b.statistics == nullptr) return a.statistics == b.statistics;
    const double most = kSimilarWithin * seconds(step);
    const auto near = [&](Duration x, Duration y) { return std::abs(seconds(x - y)) <= most; };
    const RankStatistics& s = *a.statistics;
    const RankStatistics& t = *b.statistics;
    return near(s.busy, t.busy) && near(s.exposed, t.exposed) && near(s.optimizer, t.optimizer) &&
           near(s.idle, t.idle);
}

std::vector<SimilarRun> similar_runs(const TimelineDocument& document,
                                     std::span<const std::size_t> devices,
                                     const TimelineDocument* other) {
    std::vector<SimilarRun> runs;
    const auto device = [&](std::size_t i) -> const Device& {
        return document.devices[devices[i]];
    };
    const auto similar_in_other = [&](const Device& a, const Device& b) {
        const Device* first = other->device_of(a.rank);
        const Device* second = other->device_of(b.rank);
        if (first == nullptr || second == nullptr) return first == second;
        return are_similar(*first, *second, other->statistics.step);
    };
    const auto similar = [&](const Device& a, const Device& b) {
        return are_similar(a, b, document.statistics.step) &&
               (other == nullptr || similar_in_other(a, b));
    };
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (!runs.empty() && similar(device(runs.back().first), device(i)))
            runs.back().last = i;
        else
            runs.push_back({i, i});
    return runs;
}

}  // namespace debubble::picture
