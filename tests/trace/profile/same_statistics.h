#pragma once

#include <gmock/gmock.h>

#include "trace/statistics.h"

namespace debubble::profile {

inline void expect_same_statistics(const Trace& written, const Trace& read) {
    const Statistics a = statistics(written);
    const Statistics b = statistics(read);
    EXPECT_EQ(a.makespan, b.makespan);
    EXPECT_EQ(a.step, b.step);
    EXPECT_EQ(a.bubble, b.bubble);
    EXPECT_EQ(a.span_bubble, b.span_bubble);
    ASSERT_EQ(a.ranks.size(), b.ranks.size());
    for (std::size_t r = 0; r < a.ranks.size(); ++r) {
        EXPECT_EQ(a.ranks[r].rank, b.ranks[r].rank);
        EXPECT_EQ(a.ranks[r].busy, b.ranks[r].busy);
        EXPECT_EQ(a.ranks[r].exposed, b.ranks[r].exposed);
        EXPECT_EQ(a.ranks[r].exposed_between, b.ranks[r].exposed_between);
        EXPECT_EQ(a.ranks[r].exposed_after, b.ranks[r].exposed_after);
        EXPECT_EQ(a.ranks[r].optimizer, b.ranks[r].optimizer);
        EXPECT_EQ(a.ranks[r].idle, b.ranks[r].idle);
        EXPECT_EQ(a.ranks[r].idle_by_cause, b.ranks[r].idle_by_cause);
    }
    EXPECT_EQ(a.bubbles.size(), b.bubbles.size());
}

}  // namespace debubble::profile
