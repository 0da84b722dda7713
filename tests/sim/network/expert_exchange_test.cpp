#include "sim/network/expert_exchange.h"

#include <gtest/gtest.h>

#include "tests/sim/machines.h"

namespace debubble::sim {
namespace {

using models::Dispatcher;

/// Groups of eight ranks per node.
GroupPlacement ranks(int size) {
    return {size, (size + 7) / 8, std::min(size, 8), 1, 1, (size + 7) / 8};
}

CollectiveCost exchange(Dispatcher by, const GroupPlacement& group) {
    constexpr std::int64_t kTokens = 4096, kHidden = 7168, kRows = 8;
    return expert_exchange_cost({Bytes{2 * kTokens * kHidden * kRows * group.size}, kRows, 256, by},
                                group, dgx_a100());
}

/// The copies of a token of DeepSeek-V3's kind that leave its node, and those that leave its rank.
TEST(ExpertExchange, SendsATokenOnceToEachGroupThatItsExpertsAreIn) {
    const auto nodes_away = [](int nodes) { return groups_hit(nodes, 256, 8) * (1 - 1.0 / nodes); };
    EXPECT_NEAR(nodes_away(2), 1.0, 0.01);
    EXPECT_NEAR(nodes_away(4), 2.7, 0.05);
    EXPECT_NEAR(nodes_away(8), 4.6, 0.05);
    EXPECT_NEAR(groups_hit(8, 256, 8) * 7 / 8, 4.6, 0.05);
    EXPECT_DOUBLE_EQ(groups_hit(1, 256, 8), 1);
    EXPECT_NEAR(groups_hit(256, 256, 8), 8, 1e-9) << "every row has an expert of its own";
}

TEST(ExpertExchange, SendsNoMoreOverCardsThanRowByRow) {
    const auto wire = static_cast<std::size_t>(Tier::Network);
    for (const int size : {16, 32, 64}) {
        const double rows = exchange(Dispatcher::AllToAll, ranks(size)).busy[wire];
        const double tokens = exchange(Dispatcher::DeepEp, ranks(size)).busy[wire];
        EXPECT_LT(tokens, rows) << size;
        const double copies = 8 * (1 - 8.0 / size);
        EXPECT_NEAR(tokens / rows, groups_hit(size / 8, 256, 8) * (1 - 8.0 / size) / copies, 1e-6);
        EXPECT_GE(exchange(Dispatcher::AllGather, ranks(size)).busy[wire], tokens);
    }
    EXPECT_EQ(exchange(Dispatcher::DeepEp, ranks(8)).busy[wire], 0);
    EXPECT_EQ(exchange(Dispatcher::HybridEp, ranks(1)).total(), Duration{});
}

}  // namespace
}  // namespace debubble::sim
