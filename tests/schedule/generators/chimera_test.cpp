#include <gtest/gtest.h>

#include "schedule/generators/generators.h"
#include "tests/schedule/generators/search_cases.h"

namespace debubble {
namespace {

/// Forward and backward equally long.
PipelineCosts equal_costs() {
    return share_costs(1, 0, 2, 1, 1);
}

TEST(Chimera, IsFigure3OfThePaperOnFourRanks) {
    EXPECT_EQ(to_text(generate("chimera", {4, 1, 4})),
              "0F0 0F1 3F2 3B2 3F3 3B3 0B0 0B1\n"
              "1F0 2F2 1F1 2F3 2B2 1B0 2B3 1B1\n"
              "1F2 2F0 1F3 2F1 2B0 1B2 2B1 1B3\n"
              "0F2 0F3 3F0 3B0 3F1 3B1 0B2 0B3\n");
}

/// Table 2 and section 3.5: p - 2 slots, however many units are concatenated.
TEST(Chimera, HasThePapersBubbleWhereForwardAndBackwardAreEqual) {
    for (const int p : {2, 4, 6, 8, 16})
        for (const int units : {1, 2, 5}) {
            const int m = p * units;
            const Replay r = replay(generate("chimera", {p, 1, m}), equal_costs());
            EXPECT_NEAR(seconds(r.makespan), 2 * (2 * m + p - 2), 1e-9) << p << " ranks, " << m;
        }
}

/// Section 3.1: a unit takes 3N + 2(p-2) forwards if a backward takes two.
TEST(Chimera, HasThePapersBubbleInOneUnitWhereBackwardIsTwice) {
    for (const int p : {2, 4, 6, 8, 16}) {
        const Replay r = replay(generate("chimera", {p, 1, p}), unit_costs());
        EXPECT_NEAR(seconds(r.makespan), 3 * p + 2 * (p - 2), 1e-9) << p;
    }
}

TEST(Chimera, HoldsBetweenHalfAndAllOfAUnit) {
    for (const int p : {2, 4, 6, 8, 16})
        for (const int units : {1, 3}) {
            const Replay r = replay(generate("chimera", {p, 1, p * units}), unit_costs());
            const auto& live = r.peak_live_until_weight;
            EXPECT_EQ(*std::ranges::min_element(live), p / 2 + 1);
            EXPECT_EQ(*std::ranges::max_element(live), p);
        }
}

}  // namespace
}  // namespace debubble
