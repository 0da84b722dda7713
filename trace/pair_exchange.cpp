#include "trace/statistics.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace debubble {
namespace {

struct RankParts {
    std::vector<const PairPart*> computes;  ///< one after the other, by begin
    std::vector<const PairPart*> exchanges;
};

/// Adds the time of `exchange` that is overlapped by one of `computes`, which do not overlap each
/// other.
void add(const PairPart& exchange, const std::vector<const PairPart*>& computes,
         PairExchange& sum) {
    sum.exchange += exchange.end - exchange.begin;
    auto at = std::ranges::partition_point(
        computes, [&](const PairPart* compute) { return compute->end <= exchange.begin; });
    for (; at != computes.end() && (*at)->begin < exchange.end; ++at) {
        const Duration both =
            std::min((*at)->end, exchange.end) - std::max((*at)->begin, exchange.begin);
        sum.hidden += both;
        sum.hidden_under_gemms += std::chrono::duration_cast<Duration>(both * (*at)->products);
    }
}

}  // namespace

PairExchange exchange_of_pairs(const Trace& trace) {
    std::map<std::pair<std::int32_t, Rank>, RankParts> ranks;
    for (const PairPart& part : trace.pair_parts) {
        RankParts& of_rank = ranks[{part.replica, part.rank}];
        (part.lane == Lane::Compute ? of_rank.computes : of_rank.exchanges).push_back(&part);
    }
    PairExchange sum;
    if (ranks.empty()) return sum;
    for (const Span& span : trace.spans)
        if (std::holds_alternative<Overlap>(span.action)) ++sum.pairs;
    for (const auto& [rank, parts] : ranks)
        for (const PairPart* exchange : parts.exchanges) add(*exchange, parts.computes, sum);
    return sum;
}

}  // namespace debubble
