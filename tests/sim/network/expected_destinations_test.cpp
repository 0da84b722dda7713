#include "sim/network/collective_cost.h"

#include <gtest/gtest.h>

#include <bit>

namespace debubble::sim {
namespace {

using models::Routing;

/// The mean over all choices of groups, and of experts in them, one by one. Experts are bits.
double by_enumeration(unsigned places, const Routing& routing) {
    const auto experts = static_cast<unsigned>(routing.experts);
    const auto groups = static_cast<unsigned>(routing.groups);
    const auto holds = [](unsigned first, unsigned count) { return ((1u << count) - 1) << first; };
    double hit = 0, choices = 0;
    for (unsigned open = 0; open < 1u << groups; ++open) {
        if (std::popcount(open) != routing.groups_chosen) continue;
        unsigned allowed = 0;
        for (unsigned group = 0; group < groups; ++group)
            if (open >> group & 1) allowed |= holds(group * experts / groups, experts / groups);
        for (unsigned chosen = 0; chosen < 1u << experts; ++chosen) {
            if (std::popcount(chosen) != routing.per_token || (chosen & ~allowed) != 0) continue;
            ++choices;
            for (unsigned place = 0; place < places; ++place)
                hit += (chosen & holds(place * experts / places, experts / places)) != 0;
        }
    }
    return hit / choices;
}

TEST(PlacesHit, IsTheMeanOverAllChoices) {
    for (const unsigned groups : {1, 2, 3, 4, 6})
        for (unsigned chosen = 1; chosen <= groups; ++chosen)
            for (const std::int64_t rows : {1, 2, 3})
                for (const unsigned places : {1, 2, 3, 4, 6, 12}) {
                    const Routing routing{rows, 12, groups, chosen};
                    if (12 / groups * chosen < rows) continue;
                    EXPECT_NEAR(expected_destinations(places, routing),
                                by_enumeration(places, routing), 1e-9)
                        << groups << " groups, " << chosen << " chosen, " << rows << " rows, "
                        << places << " places";
                }
}

/// DeepSeek-V3 sends a token to four of eight groups, each of which is a node's (arXiv:2412.19437,
/// section 2.1.2).
TEST(PlacesHit, IsNoMoreNodesThanGroupsAreChosen) {
    EXPECT_LT(expected_destinations(8, {8, 256, 8, 4}), 4);
    EXPECT_GT(expected_destinations(8, {8, 256, 8, 4}), 3.5);
    EXPECT_GT(expected_destinations(8, {8, 256}), 5);
    for (std::int64_t chosen = 1, before = 0; chosen <= 8; ++chosen) {
        const double hit = expected_destinations(16, {8, 256, 8, chosen});
        EXPECT_GT(hit, static_cast<double>(before)) << chosen;
        EXPECT_LE(hit, 2.0 * static_cast<double>(chosen));
        before = static_cast<std::int64_t>(hit);
    }
}

TEST(PlacesHit, IsFiniteForAsManyGroupsAsThereMayBe) {
    const double hit = expected_destinations(64, {8, 8192, 4096, 2048});
    EXPECT_NEAR(hit, expected_destinations(64, {8, 8192}), 0.01);
}

}  // namespace
}  // namespace debubble::sim
