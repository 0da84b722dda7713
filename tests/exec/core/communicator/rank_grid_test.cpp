#include "exec/core/communicator/rank_grid.h"

#include <algorithm>

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

/// Whatever the degrees, each kind of group divides the ranks of a pipeline position.
TEST(RankGrid, PutsEveryRankInOneGroupOfEachKind) {
    RankGrid grid{2, 2, 3, 2};
    grid.expert = 3;
    grid.expert_tensor = 2;
    for (const auto group : {&RankGrid::expert_group, &RankGrid::expert_tensor_group,
                             &RankGrid::expert_block_group, &RankGrid::expert_gradient_group})
        for (int rank = 0; rank < grid.size(); ++rank) {
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
