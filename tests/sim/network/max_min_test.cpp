#include "sim/network/max_min.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gmock/gmock.h>

namespace debubble::sim {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

std::vector<double> solve(const std::vector<double>& capacity,
                          const std::vector<FlowLinks>& flows) {
    std::vector<double> rates(flows.size());
    max_min_rates(capacity, flows, rates);
    return rates;
}

TEST(MaxMin, SharesOneLinkEqually) {
    EXPECT_THAT(solve({12}, {{0}, {0}, {0}}), ElementsAre(4, 4, 4));
}

TEST(MaxMin, GivesWhatTheBottleneckLeavesToOthers) {
    // Bertsekas and Gallager's line: one long flow over both links, one short on each.
    EXPECT_THAT(solve({1, 2}, {{0, 1}, {0}, {1}}),
                ElementsAre(DoubleEq(0.5), DoubleEq(0.5), DoubleEq(1.5)));
}

TEST(MaxMin, FillsLinksOneAfterTheOther) {
    // Shares 10/4, then 20-2.5 over 1: three levels of filling.
    EXPECT_THAT(solve({10, 20, 100}, {{0}, {0}, {0}, {0, 1}, {1, 2}, {2}}),
                ElementsAre(DoubleEq(2.5), DoubleEq(2.5), DoubleEq(2.5), DoubleEq(2.5),
                            DoubleEq(17.5), DoubleEq(82.5)));
}

TEST(MaxMin, CountsALinkThatIsCrossedTwiceTwice) {
    EXPECT_THAT(solve({9}, {{0, 0}, {0}}), ElementsAre(3, 3));
}

TEST(MaxMin, LetsFlowsWithoutLinksGoFreely) {
    EXPECT_THAT(solve({}, {FlowLinks{}}), ElementsAre(INFINITY));
    EXPECT_THAT(solve({0}, {FlowLinks{0}}), ElementsAre(0));
    EXPECT_TRUE(solve({5}, {}).empty());
}

/// No link carries more than it can, and every flow has a link that is full and
/// on which nobody gets more: this characterises the max-min fair allocation.
void expect_fair(const std::vector<double>& capacity, const std::vector<FlowLinks>& flows,
                 const std::vector<double>& rates) {
    std::vector<double> load(capacity.size());
    std::vector<double> greatest(capacity.size());
    for (std::size_t i = 0; i < flows.size(); ++i)
        for (const int link : flows[i]) {
            load[link] += rates[i];
            greatest[link] = std::max(greatest[link], rates[i]);
        }
    for (std::size_t l = 0; l < capacity.size(); ++l)
        EXPECT_LE(load[l], capacity[l] * (1 + 1e-9)) << "link " << l;
    for (std::size_t i = 0; i < flows.size(); ++i)
        EXPECT_TRUE(std::ranges::any_of(flows[i],
                                        [&](int link) {
                                            return load[link] >= capacity[link] * (1 - 1e-9) &&
                                                   rates[i] >= greatest[link] * (1 - 1e-9);
                                        }))
            << "flow " << i;
}

TEST(MaxMin, IsFairOnRandomSystems) {
    std::mt19937 random(7);
    MaxMinSolver solver;  // reused: nothing of one system may leak into the next
    for (int trial = 0; trial < 2000; ++trial) {
        const int links = 1 + static_cast<int>(random() % 12);
        std::vector<double> capacity(links);
        for (double& c : capacity) c = 1 + static_cast<double>(random() % 50);
        std::vector<FlowLinks> flows(random() % 20);
        for (FlowLinks& flow : flows) {
            flow = {static_cast<int>(random() % links)};
            for (int more = 0; more < 3; ++more)
                if (random() % 2) flow.push_back(static_cast<int>(random() % links));
        }
        std::vector<double> rates(flows.size());
        solver.solve(capacity, flows, rates);
        expect_fair(capacity, flows, rates);
        EXPECT_THAT(rates, Pointwise(DoubleNear(1e-9), solve(capacity, flows)));
    }
}

TEST(MaxMin, ScalesWithTheCapacities) {
    const std::vector<FlowLinks> flows = {{0, 1}, {1, 2}, {0, 2}};
    const std::vector<double> once = solve({3, 5, 7}, flows);
    const std::vector<double> twice = solve({6, 10, 14}, flows);
    for (std::size_t i = 0; i < flows.size(); ++i) EXPECT_DOUBLE_EQ(twice[i], 2 * once[i]);
}

}  // namespace
}  // namespace debubble::sim
