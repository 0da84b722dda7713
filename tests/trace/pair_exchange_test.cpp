#include "trace/statistics.h"

#include <gtest/gtest.h>

namespace debubble {
namespace {

Instant at(int ms) {
    return Instant{} + std::chrono::milliseconds(ms);
}

PairPart part(Lane lane, int begin, int end, int rank = 0) {
    PairPart p;
    p.rank = Rank{rank};
    p.lane = lane;
    p.begin = at(begin);
    p.end = at(end);
    return p;
}

TEST(PairExchange, IsHiddenWhileItsRankComputes) {
    Trace trace;
    trace.pair_parts = {part(Lane::Collective, 0, 10), part(Lane::Compute, 2, 4),
                        part(Lane::Compute, 4, 7), part(Lane::Compute, 9, 12),
                        part(Lane::Collective, 11, 15)};
    Span span;
    span.action = Overlap{};
    trace.spans = {span};
    const PairExchange sum = exchange_of_pairs(trace);
    EXPECT_EQ(sum.pairs, 1U);
    EXPECT_EQ(sum.exchange, std::chrono::milliseconds(14));
    EXPECT_EQ(sum.hidden, std::chrono::milliseconds(7));  // 2 to 7, 9 to 10, 11 to 12
    EXPECT_EQ(sum.hidden_under_gemms, Duration{});
    trace.pair_parts[1].products = 0.5;
    trace.pair_parts[3].products = 0.25;
    EXPECT_EQ(exchange_of_pairs(trace).hidden_under_gemms, std::chrono::microseconds(1000 + 500));
}

TEST(PairExchange, OfARankIsNotHiddenByWhatAnotherComputes) {
    Trace trace;
    trace.pair_parts = {part(Lane::Collective, 0, 10), part(Lane::Compute, 0, 10, 1)};
    EXPECT_EQ(exchange_of_pairs(trace).hidden, Duration{});
    trace.pair_parts.push_back(part(Lane::Compute, 9, 10));
    EXPECT_EQ(exchange_of_pairs(trace).hidden, std::chrono::milliseconds(1));
}

TEST(PairExchange, IsNothingWithoutParts) {
    Trace trace;
    Span span;
    span.action = Overlap{};
    trace.spans = {span};
    EXPECT_EQ(exchange_of_pairs(trace).pairs, 0U);
}

}  // namespace
}  // namespace debubble
