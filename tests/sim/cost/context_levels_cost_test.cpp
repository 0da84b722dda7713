#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenarios/plan/derived.h"
#include "scenarios/read/read_scenario.h"
#include "sim/network/group.h"
#include "sim/predict.h"

/// The cost of two-level context parallelism, compared with its two levels alone.
namespace debubble::sim {
namespace {

scenarios::Scenario long_sequences(const std::string& way, const std::string& sizes = "",
                                   const std::vector<scenarios::Override>& more = {}) {
    return scenarios::parse_scenario(
        fmt::format("model: {{base: llama3-70b, layers: 4}}\ncluster: hgx-h100\nnodes: 4\n"
                    "parallel: {{tensor: 2, context: 16, sequence: true{}}}\n"
                    "training: {{seq_length: 131072}}\n"
                    "framework: {{base: megatron-2026, context_communication: {}}}\n",
                    sizes.empty() ? "" : ", hierarchical_context_parallel_sizes: " + sizes, way),
        "levels.yaml", more);
}
Prediction predicted(const scenarios::Scenario& scenario) {
    return predict(scenario).prediction;
}
void expect_same(const Prediction& one, const Prediction& other) {
    EXPECT_EQ(one.step_time_s, other.step_time_s);
    ASSERT_EQ(one.ranks.size(), other.ranks.size());
    for (std::size_t rank = 0; rank < one.ranks.size(); ++rank) {
        EXPECT_EQ(one.ranks[rank].busy_s, other.ranks[rank].busy_s);
        EXPECT_EQ(one.ranks[rank].exposed_comm_s, other.ranks[rank].exposed_comm_s);
        EXPECT_EQ(one.ranks[rank].peak_memory, other.ranks[rank].peak_memory);
    }
}

TEST(ContextLevelsCost, OfALevelOfOneRankIsThatOfTheOtherAlone) {
    // Eight key-value heads on two tensor-parallel ranks: four ranks can exchange heads.
    const std::vector<scenarios::Override> eight{{"parallel.context", "4"}};
    expect_same(predicted(long_sequences("a2a+p2p", "[1, 4]", eight)),
                predicted(long_sequences("p2p", "", eight)));
    expect_same(predicted(long_sequences("a2a+p2p", "[4, 1]", eight)),
                predicted(long_sequences("all-to-all", "", eight)));
}

TEST(ContextLevelsCost, LieInsideANodeUnlessTheyAreGiven) {
    const scenarios::Scenario s = long_sequences("a2a+p2p");
    EXPECT_EQ(scenarios::context_levels(s), (scenarios::ContextLevels{4, 4}));
    EXPECT_EQ(context_inner_group(s, 0), (GroupPlacement{4, 1, 4, 2, 1, 2}));
    EXPECT_EQ(context_outer_group(s, 0).nodes, 4);
    EXPECT_EQ(context_outer_group(s, 0).per_node, 1);
    expect_same(predicted(s), predicted(long_sequences("a2a+p2p", "[4, 4]")));
    EXPECT_EQ(scenarios::context_levels(long_sequences("a2a+p2p", "[2, 8]")),
              (scenarios::ContextLevels{2, 8}));
}

/// The ring between nodes has fewer bytes to bring, the more ranks of a node exchange heads.
TEST(ContextLevelsCost, ExposesLessOverASlowNetworkTheMoreANodeExchanges) {
    const std::vector<scenarios::Override> slow{{"cluster.network.nic_bandwidth", "10 Gb/s"}};
    double before = predicted(long_sequences("p2p", "", slow)).step_time_s;
    for (const char* sizes : {"[2, 8]", "[4, 4]"}) {
        const double step = predicted(long_sequences("a2a+p2p", sizes, slow)).step_time_s;
        EXPECT_LT(step, before) << sizes;
        before = step;
    }
}

TEST(ContextLevelsCost, FallWithTheBandwidthOfEitherLevel) {
    for (const char* key : {"cluster.network.nic_bandwidth", "cluster.node_link.bandwidth"}) {
        double before = 0;
        for (const int gb : {800, 200, 50, 10}) {
            const double step =
                predicted(long_sequences("a2a+p2p", "[4, 4]", {{key, fmt::format("{} GB/s", gb)}}))
                    .step_time_s;
            EXPECT_GE(step, before) << key << " " << gb;
            before = step;
        }
    }
}

}  // namespace
}  // namespace debubble::sim
