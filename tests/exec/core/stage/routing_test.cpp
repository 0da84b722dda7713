#include "exec/core/stage/routing.h"

#include <algorithm>
#include <array>
#include <random>

#include <gtest/gtest.h>

namespace debubble::exec {
namespace {

using Counts = std::vector<std::int64_t>;

/// Two ranks share four experts: rank 0 has 1, 2, 1 and 2 rows for them, rank 1 has 3, 1, 0 and 2.
const std::vector<std::int32_t> kOfTwo{0, 1, 3, 4, 6, 0, 3, 4, 4, 6};

TEST(Routing, CountsWhatARankSendsAndTakes) {
    const Routing routing({2, 1, 0, 0}, kOfTwo);
    EXPECT_EQ(routing.sent(), (Counts{3, 3}));
    EXPECT_EQ(routing.taken(), (Counts{3, 4}));
    EXPECT_EQ(routing.of_cutting_ranks(), (Counts{7}));
    EXPECT_EQ(routing.received(), 7);
    EXPECT_EQ(routing.at_experts(), 7);
    EXPECT_EQ(routing.first_rows(), (Counts{0, 4, 7}));
    EXPECT_DOUBLE_EQ(routing.load(), 7.0 / 6);
}

/// Rank 0's rows of its two experts (1 and 2), then rank 1's (3 and 1).
TEST(Routing, SortsWhatSendersHaveByExpert) {
    const std::vector<RowBlock> moves{{0, 0, 1}, {3, 1, 3}, {1, 4, 2}, {6, 6, 1}};
    EXPECT_EQ(Routing({2, 1, 0, 0}, kOfTwo).sorting(), moves);
}

TEST(Routing, LeavesRowsOfOneRankWhereTheyAre) {
    const Routing routing({}, std::vector<std::int32_t>{0, 2, 2, 5});
    EXPECT_EQ(routing.sorting(), (std::vector<RowBlock>{{0, 0, 5}}));
    EXPECT_EQ(routing.first_rows(), (Counts{0, 2, 2, 5}));
}

/// A row by where it comes from.
struct Row {
    int expert, cutting, sender, index;
    friend auto operator<=>(const Row&, const Row&) = default;
};

/// Rows that are carried as the counts say come to every rank in the order of its experts.
TEST(Routing, BringsEveryRowToItsExpert) {
    std::mt19937 random(5);
    for (const auto& [sharing, cutting, experts] :
         std::vector<std::array<int, 3>>{{1, 1, 4}, {2, 1, 4}, {4, 1, 4}, {1, 2, 3}, {2, 3, 8}}) {
        const int ranks = sharing * cutting, own = experts / sharing;
        std::vector<std::int32_t> first_rows;
        for (int rank = 0; rank < ranks; ++rank) {
            first_rows.push_back(0);
            for (int e = 0; e < experts; ++e)
                first_rows.push_back(first_rows.back() + static_cast<int>(random() % 4));
        }
        const auto rows_of = [&](int rank, int expert) {
            const int at = rank * (experts + 1) + expert;
            return first_rows[at + 1] - first_rows[at];
        };
        for (int rank = 0; rank < ranks; ++rank) {
            const int share = rank / cutting;
            const Routing routing({sharing, cutting, share, rank % cutting}, first_rows);
            std::vector<Row> came;  // in the order of the cutting ranks, the senders, the experts
            for (int c = 0; c < cutting; ++c)
                for (int s = 0; s < sharing; ++s)
                    for (int e = share * own; e < (share + 1) * own; ++e)
                        for (int i = 0; i < rows_of(c + cutting * s, e); ++i)
                            came.push_back({e, c, s, i});
            ASSERT_EQ(std::ssize(came), routing.at_experts());
            std::vector<Row> sorted(came.size());
            for (const RowBlock& block : routing.sorting())
                std::copy_n(came.begin() + block.from, block.count, sorted.begin() + block.to);
            EXPECT_TRUE(std::ranges::is_sorted(sorted));
            for (int e = 0; e < own; ++e)
                for (auto row = routing.first_rows()[e]; row < routing.first_rows()[e + 1]; ++row)
                    EXPECT_EQ(sorted[row].expert, share * own + e);
            for (int peer = 0; peer < sharing; ++peer) {
                const Routing other({sharing, cutting, peer, rank % cutting}, first_rows);
                EXPECT_EQ(routing.sent()[peer], other.taken()[share]);
            }
            const Routing beside({sharing, cutting, share, 0}, first_rows);
            EXPECT_EQ(routing.of_cutting_ranks()[0], beside.received());
        }
    }
}

}  // namespace
}  // namespace debubble::exec
