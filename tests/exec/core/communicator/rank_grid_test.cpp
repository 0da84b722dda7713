#include "exec/core/communicator/rank_grid.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <gtest/gtest.h>

namespace debubble::exec {
namespace {

using Ranks = std::vector<int>;

/// 16 ranks, tensor 2, data 4, pipeline 2. Experts: 4 ranks share them, each has its own whole.
TEST(RankGrid, CutsTheGroupsOfExpertsFromTheSameRanks) {
    RankGrid grid{2, 1, 4, 2};
    grid.expert = 4;
    grid.expert_tensor = 1;
    const GridPlace at = grid.place_of(13);
    EXPECT_EQ(grid.tensor_group(at), (Ranks{12, 13}));
    EXPECT_EQ(grid.gradient_group(at), (Ranks{9, 11, 13, 15}));
    EXPECT_EQ(grid.expert_place_of(13), (ExpertPlace{0, 1, 1}));
    EXPECT_EQ(grid.expert_group(at), (Ranks{12, 13, 14, 15}));
    EXPECT_EQ(grid.expert_tensor_group(at), (Ranks{13}));
    EXPECT_EQ(grid.expert_gradient_group(at), (Ranks{9, 13}));
}

TEST(RankGrid, KeepsTheRanksThatCutExpertsTogether) {
    RankGrid grid{2, 1, 4, 2};
    grid.expert = 2;
    grid.expert_tensor = 2;
    const GridPlace at = grid.place_of(14);
    EXPECT_EQ(grid.expert_place_of(14), (ExpertPlace{0, 1, 1}));
    EXPECT_EQ(grid.expert_tensor_group(at), (Ranks{14, 15}));
    EXPECT_EQ(grid.expert_group(at), (Ranks{12, 14}));
    EXPECT_EQ(grid.expert_block_group(at), (Ranks{12, 13, 14, 15}));
    EXPECT_EQ(grid.expert_gradient_group(at), (Ranks{10, 14}));
}

TEST(RankGrid, HasTheSameGroupsForExpertsThatAreCutAsAllElse) {
    RankGrid grid{2, 2, 2, 2};
    EXPECT_FALSE(grid.experts_apart());
    grid.expert_tensor = 2;
    EXPECT_FALSE(grid.experts_apart());
    for (int rank = 0; rank < grid.size(); ++rank)
        EXPECT_EQ(grid.expert_gradient_group(grid.place_of(rank)),
                  grid.gradient_group(grid.place_of(rank)));
    grid.expert_tensor = 1;
    EXPECT_TRUE(grid.experts_apart());
}

scenarios::RankOrder order_of(std::string_view text) {
    return scenarios::RankOrder::parse(text).value();
}

/// Megatron-LM's --use-tp-pp-dp-mapping.
TEST(RankGrid, HasPipelinesInsideReplicasWhereTheOrderSaysSo) {
    RankGrid grid{2, 1, 2, 2};
    grid.order = order_of("tp-cp-ep-pp-dp");
    const GridPlace at = grid.place_of(6);
    EXPECT_EQ(at, (GridPlace{0, 0, 1, 1}));
    EXPECT_EQ(grid.tensor_group(at), (Ranks{6, 7}));
    EXPECT_EQ(grid.pipeline_group(at), (Ranks{4, 6}));
    EXPECT_EQ(grid.gradient_group(at), (Ranks{2, 6}));
    EXPECT_EQ(grid.replica_of(6), 2);
}

TEST(RankGrid, SpreadsExpertsOverReplicasThatTheOrderPartsFromEachOther) {
    RankGrid grid{2, 1, 4, 1};
    grid.expert = 2;
    grid.expert_tensor = 2;
    grid.order = order_of("tp-dp-ep-cp-pp");
    const GridPlace at = grid.place_of(5);
    EXPECT_EQ(at, (GridPlace{1, 0, 2, 0}));
    EXPECT_EQ(grid.expert_place_of(5), (ExpertPlace{1, 1, 0}));
    EXPECT_EQ(grid.expert_tensor_group(at), (Ranks{4, 5}));
    EXPECT_EQ(grid.expert_group(at), (Ranks{1, 5}));
    EXPECT_EQ(grid.expert_block_group(at), (Ranks{0, 1, 4, 5}));
    EXPECT_EQ(grid.expert_gradient_group(at), (Ranks{5, 7}));
}

TEST(RankGrid, HasEveryPlaceOnceInEveryOrder) {
    for (const char* order :
         {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp", "tp-pp-ep-dp-cp", "tp-dp-ep-cp-pp"}) {
        RankGrid grid{2, 3, 2, 2};
        grid.order = order_of(order);
        std::set<int> replicas;
        for (int rank = 0; rank < grid.size(); ++rank) {
            EXPECT_EQ(grid.global_rank(grid.place_of(rank)), rank) << order;
            if (grid.place_of(rank).pipeline == 1) replicas.insert(grid.replica_of(rank));
        }
        EXPECT_EQ(std::ssize(replicas), grid.replicas()) << order;
    }
}

/// Whatever the degrees, each kind of group divides the ranks of a pipeline position.
TEST(RankGrid, PutsEveryRankInOneGroupOfEachKind) {
    RankGrid grid{2, 2, 3, 2};
    grid.expert = 3;
    grid.expert_tensor = 2;
    for (const char* order : {"tp-cp-ep-dp-pp", "tp-dp-ep-cp-pp"})
        for (const auto group : {&RankGrid::expert_group, &RankGrid::expert_tensor_group,
                                 &RankGrid::expert_block_group, &RankGrid::expert_gradient_group})
            for (int rank = 0; rank < grid.size(); ++rank) {
                grid.order = order_of(order);
                const Ranks members = (grid.*group)(grid.place_of(rank));
                EXPECT_EQ(std::ranges::count(members, rank), 1);
                for (const int member : members) {
                    EXPECT_EQ(grid.place_of(member).pipeline, grid.place_of(rank).pipeline);
                    EXPECT_EQ((grid.*group)(grid.place_of(member)), members);
                }
            }
}

}  // namespace
}  // namespace debubble::exec
