#include "sim/network/group.h"

#include <map>
#include <set>
#include <vector>

#include <gmock/gmock.h>

#include "tests/sim/machines.h"

namespace debubble::sim {
namespace {

scenarios::Scenario job(int tensor, int context, int data, int pipeline) {
    scenarios::Scenario scenario;
    scenario.cluster = dgx_a100();
    scenario.parallel.tensor = tensor;
    scenario.parallel.context = context;
    scenario.parallel.data = data;
    scenario.parallel.pipeline = pipeline;
    return scenario;
}

TEST(Group, LiesWhereMegatronPutsIt) {
    const auto megatron = job(8, 1, 4, 2);  // 8 nodes, a tensor group each
    EXPECT_EQ(tensor_group(megatron, 1), (GroupPlacement{8, 1, 8, 1, 1, 1}));
    EXPECT_EQ(gradient_group(megatron, 0), (GroupPlacement{4, 4, 1, 8, 1, 32}));
    EXPECT_EQ(pair_group(megatron, 0, 1), (GroupPlacement{2, 2, 1, 8, 1, 16}));

    const auto two = job(2, 1, 8, 1);  // four replicas in a node
    EXPECT_EQ(gradient_group(two, 0), (GroupPlacement{8, 2, 4, 2, 1, 4}));

    const auto wide = job(16, 1, 4, 1);  // a tensor group over two nodes
    EXPECT_EQ(tensor_group(wide, 0), (GroupPlacement{16, 2, 8, 1, 1, 2}));

    const auto narrow = job(1, 1, 2, 4);  // the whole job in one node
    EXPECT_EQ(gradient_group(narrow, 3), (GroupPlacement{2, 1, 2, 1, 1, 1}));
    EXPECT_EQ(pair_group(narrow, 0, 3), (GroupPlacement{2, 1, 2, 1, 1, 1}));
}

TEST(Group, PutsContextInsideDataAndOutsideTensor) {
    const auto scenario = job(4, 4, 2, 1);
    EXPECT_EQ(context_group(scenario, 0), (GroupPlacement{4, 2, 2, 4, 1, 8}));
    EXPECT_EQ(gradient_group(scenario, 0).size, 8);
}

TEST(Group, PutsExpertsWhereMegatronDoes) {
    auto scenario = job(2, 1, 8, 2);  // 16 ranks of a stage, two nodes
    scenario.parallel.expert_tensor = 2;
    scenario.parallel.expert = 8;
    EXPECT_EQ(expert_group(scenario, 0), (GroupPlacement{8, 2, 4, 2, 1, 4}));
    EXPECT_EQ(expert_tensor_group(scenario, 0), (GroupPlacement{2, 1, 2, 4, 1, 4}));
    EXPECT_EQ(expert_gradient_group(scenario, 1).size, 1);
    scenario.parallel.expert_tensor = 1;  // whole experts: one node has them all
    EXPECT_EQ(expert_group(scenario, 0), (GroupPlacement{8, 1, 8, 1, 1, 1}));
    EXPECT_EQ(expert_gradient_group(scenario, 1), (GroupPlacement{2, 2, 1, 8, 1, 16}));
}

/// What place() works out from a progression, counted out rank by rank.
TEST(Group, CountsAsAnEnumerationDoes) {
    const scenarios::Cluster cluster = dgx_a100();
    for (const int tensor : {1, 2, 4, 8, 16})
        for (const int data : {1, 2, 3, 4, 8})
            for (const int pipeline : {1, 2, 4}) {
                const auto scenario = job(tensor, 1, data, pipeline);
                for (int p = 0; p < pipeline; ++p) {
                    std::map<int, std::map<int, int>> members;  // group (tp) -> node -> members
                    std::map<int, std::set<int>> groups;        // node -> groups
                    for (int dp = 0; dp < data; ++dp)
                        for (int tp = 0; tp < tensor; ++tp) {
                            const int node = (tp + tensor * (dp + data * p)) / 8;
                            ++members[tp][node];
                            groups[node].insert(tp);
                        }
                    const GroupPlacement placed = gradient_group(scenario, p);
                    int most = 0;
                    for (const auto& [node, count] : members[0]) most = std::max(most, count);
                    EXPECT_EQ(placed.nodes, static_cast<int>(members[0].size()));
                    EXPECT_EQ(placed.per_node, most);
                    std::size_t sharing = 0;
                    for (const auto& [node, tps] : groups) sharing = std::max(sharing, tps.size());
                    if (placed.nodes == 1) continue;  // nobody shares a NIC
                    EXPECT_EQ(placed.groups_per_node, static_cast<int>(sharing))
                        << tensor << ' ' << data << ' ' << pipeline << ' ' << p;
                }
            }
}

}  // namespace
}  // namespace debubble::sim
