#include "exec/cuda/candidates.h"

#include <vector>

#include <gtest/gtest.h>

namespace debubble::exec::cuda {
namespace {

TEST(ProductCandidates, TheFirstThatIsNotRefusedStays) {
    Candidates candidates(std::vector{1, 2, 3, 4});
    std::vector<int> asked;
    const auto from_three = [&](int algorithm) {
        asked.push_back(algorithm);
        return algorithm >= 3;
    };
    EXPECT_TRUE(candidates.run(from_three));
    EXPECT_TRUE(candidates.run(from_three));
    EXPECT_EQ(asked, (std::vector{1, 2, 3, 3}));
    EXPECT_EQ(candidates.best(), 3);
}

TEST(ProductCandidates, WhereAllAreRefusedNothingIsLeftToAskFor) {
    Candidates candidates(std::vector{1, 2});
    int asked = 0;
    const auto refuse = [&](int) {
        ++asked;
        return false;
    };
    EXPECT_FALSE(candidates.run(refuse));
    EXPECT_FALSE(candidates.run(refuse));
    EXPECT_EQ(asked, 2);
    EXPECT_TRUE(candidates.empty());
    EXPECT_TRUE(Candidates<int>().empty());
}

}  // namespace
}  // namespace debubble::exec::cuda
