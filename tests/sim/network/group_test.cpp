#include "sim/network/group.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
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

/// Every order of the dimensions with tensor first.
std::vector<std::string> all_orders() {
    std::vector<std::string> rest{"cp", "dp", "ep", "pp"};
    std::vector<std::string> orders;
    do {
        orders.push_back("tp-" + rest[0] + "-" + rest[1] + "-" + rest[2] + "-" + rest[3]);
    } while (std::ranges::next_permutation(rest).found);
    return orders;
}

/// The coordinates of a global rank by dimension, counted as Megatron-Core's RankGenerator does.
std::map<std::string, int> coordinates(int rank, const std::string& order,
                                       std::map<std::string, int> sizes) {
    std::map<std::string, int> at;
    for (std::size_t i = 0; i < order.size(); i += 3) {
        const std::string dimension = order.substr(i, 2);
        at[dimension] = rank % sizes[dimension];
        rank /= sizes[dimension];
    }
    return at;
}

/// The group of the first rank of pipeline rank `pipeline` along `dimensions`, counted out over all
/// ranks.
GroupPlacement counted(const scenarios::Scenario& scenario, int pipeline,
                       const std::set<std::string>& dimensions, Rivals rivals) {
    const scenarios::Parallel& p = scenario.parallel;
    const std::map<std::string, int> sizes{
        {"tp", p.tensor}, {"cp", p.context}, {"ep", 1}, {"dp", p.data}, {"pp", p.pipeline}};
    const int width = scenario.cluster.gpus_per_node;
    std::map<int, int> members;  // by node
    std::map<int, int> others;
    for (int rank = 0; rank < p.gpus(); ++rank) {
        auto at = coordinates(rank, p.order.text(), sizes);
        if (rivals == Rivals::Job || at["pp"] == pipeline) ++others[rank / width];
        at["pp"] -= dimensions.contains("pp") ? 0 : pipeline;
        const bool is_member = std::ranges::all_of(
            at, [&](const auto& of) { return of.second == 0 || dimensions.contains(of.first); });
        if (is_member) ++members[rank / width];
    }
    GroupPlacement placed{0, static_cast<int>(members.size()), 0, 0, 1, 1};
    for (const auto& [node, count] : members) {
        placed.size += count;
        placed.per_node = std::max(placed.per_node, count);
    }
    int most = 0;
    for (const auto& [node, count] : others) most = std::max(most, count);
    placed.groups_per_node = (most + placed.per_node - 1) / placed.per_node;
    placed.groups_per_leaf = placed.groups_per_node * placed.nodes;
    return placed;
}

TEST(Group, IsWhereTheOrderOfRanksPutsIt) {
    for (const std::string& order : all_orders())
        for (const int width : {3, 4, 8})
            for (const auto& [t, c, d, p] :
                 {std::array{2, 2, 3, 2}, std::array{1, 4, 2, 3}, std::array{4, 1, 2, 4}}) {
                auto scenario = job(t, c, d, p);
                scenario.cluster.gpus_per_node = width;
                scenario.parallel.order = scenarios::RankOrder::parse(order).value();
                const std::string at = order + " on nodes of " + std::to_string(width);
                for (int rank = 0; rank < p; ++rank) {
                    EXPECT_EQ(tensor_group(scenario, rank),
                              counted(scenario, rank, {"tp"}, Rivals::Job))
                        << at;
                    EXPECT_EQ(context_group(scenario, rank, Rivals::PipelineRank),
                              counted(scenario, rank, {"cp"}, Rivals::PipelineRank))
                        << at;
                    EXPECT_EQ(gradient_group(scenario, rank),
                              counted(scenario, rank, {"cp", "dp"}, Rivals::PipelineRank))
                        << at;
                }
                EXPECT_EQ(pipeline_group(scenario), counted(scenario, 0, {"pp"}, Rivals::Job))
                    << at;
            }
}

TEST(RankOrder, TakesEachDimensionOnceWithTensorFirst) {
    EXPECT_EQ(scenarios::RankOrder{}.text(), "tp-cp-ep-dp-pp");
    EXPECT_EQ(scenarios::RankOrder::parse("tp-cp-ep-dp-pp"), scenarios::RankOrder{});
    EXPECT_EQ(scenarios::RankOrder::parse("tp-pp-dp-cp-ep").value().text(), "tp-pp-dp-cp-ep");
    for (const char* wrong :
         {"", "tp", "tp-cp-ep-dp", "cp-tp-ep-dp-pp", "tp-cp-ep-dp-dp", "tp-cp-ep-dp-pp-",
          "tp-cp-ep-dp-pp-tp", "tp--cp-ep-dp", "TP-CP-EP-DP-PP"})
        EXPECT_FALSE(scenarios::RankOrder::parse(wrong)) << wrong;
}

}  // namespace
}  // namespace debubble::sim
