#include <gmock/gmock.h>

#include "schedule/generators/generators.h"
#include "tests/schedule/generators/search_cases.h"

namespace debubble {
namespace {

/// An F&B takes 3, as its F, I and W apart.
PipelineCosts overlapped_costs(int stages_per_rank, double link) {
    PipelineCosts costs = share_costs(stages_per_rank, link);
    costs.overlap = from_seconds(3.0 / stages_per_rank);
    return costs;
}

/// The step loop of deepseek-ai/DualPipe, followed by hand with its chunk
/// functions replaced by their names, for four ranks and ten microbatches.
TEST(DualPipe, EqualsDeepSeeksOrder) {
    EXPECT_EQ(to_text(generate("dualpipe", {4, 1, 10})),
              "0F0 0F1 0F2 3F5 3I5 3W5 3F6 (0F3;3B6)OVERLAP_F_B (3F7;0B0)OVERLAP_F_B "
              "(0F4;3B7)OVERLAP_F_B (3F8;0B1)OVERLAP_F_B 3B8 (3F9;0B2)OVERLAP_F_B 3B9 0I3 0W3 "
              "0I4 0W4\n"
              "1F0 2F5 1F1 2F6 1F2 2B5 (2F7;1B0)OVERLAP_F_B (1F3;2B6)OVERLAP_F_B "
              "(2F8;1B1)OVERLAP_F_B (1F4;2B7)OVERLAP_F_B (2F9;1B2)OVERLAP_F_B 2B8 1B3 2I9 1I4 "
              "2W9 1W4\n"
              "1F5 2F0 1F6 2F1 1F7 2B0 (2F2;1B5)OVERLAP_F_B (1F8;2B1)OVERLAP_F_B "
              "(2F3;1B6)OVERLAP_F_B (1F9;2B2)OVERLAP_F_B (2F4;1B7)OVERLAP_F_B 2B3 1B8 2I4 1I9 "
              "2W4 1W9\n"
              "0F5 0F6 0F7 3F0 3I0 3W0 3F1 (0F8;3B1)OVERLAP_F_B (3F2;0B5)OVERLAP_F_B "
              "(0F9;3B2)OVERLAP_F_B (3F3;0B6)OVERLAP_F_B 3B3 (3F4;0B7)OVERLAP_F_B 3B4 0I8 0W8 "
              "0I9 0W9\n");
}

TEST(DualPipe, IsTheSameFromBothEnds) {
    for (const int p : {2, 4, 6, 8}) {
        const Schedule schedule = generate("dualpipe", {p, 1, 2 * p + 2});
        const Replay r = replay(schedule, overlapped_costs(1, 0.25));
        for (int rank = 0; rank < p / 2; ++rank) {
            ASSERT_EQ(r.ranks[rank].size(), r.ranks[p - 1 - rank].size());
            for (std::size_t i = 0; i < r.ranks[rank].size(); ++i)
                EXPECT_EQ(r.ranks[rank][i].end, r.ranks[p - 1 - rank][i].end);
        }
    }
}

TEST(DualPipe, HasThePapersBubbleAndMemory) {
    for (const int p : {2, 4, 8, 16}) {
        for (const int m : {2 * p, 2 * p + 6, 5 * p}) {
            const Replay r = replay(generate("dualpipe", {p, 1, m}), overlapped_costs(1, 0));
            EXPECT_NEAR(seconds(r.makespan), 3 * m + (p / 2 - 1) * (3 + 2 - 3), 1e-9);
            EXPECT_EQ(peak(r, 1), p + 1);
        }
    }
}

TEST(DualPipe, TakesTheCheckedTimes) {
    const Schedule dual = generate("dualpipe", {4, 1, 8});
    EXPECT_NEAR(seconds(replay(dual, overlapped_costs(1, 0)).makespan), 26, 1e-9);
    EXPECT_NEAR(seconds(replay(dual, overlapped_costs(1, 0.1)).makespan), 26.9, 1e-9);
    const Schedule half = generate("dualpipe-v", {4, 2, 8});
    EXPECT_NEAR(seconds(replay(half, overlapped_costs(2, 0)).makespan), 27, 1e-9);
    EXPECT_NEAR(seconds(replay(half, overlapped_costs(2, 0.1)).makespan), 28.7, 1e-9);
}

TEST(DualPipe, SaysWhatItNeeds) {
    const auto reason = [](const PipelineShape& shape) {
        return find_generator("dualpipe")->why_not(shape, {}).value_or("");
    };
    EXPECT_EQ(reason({3, 1, 8}), "it needs an even number of ranks, and 3 is odd");
    EXPECT_EQ(reason({4, 1, 9}), "half of the microbatches enter at each end, and 9 is odd");
    EXPECT_EQ(reason({4, 1, 6}), "it needs at least 2 x 4 = 8 microbatches, and there are 6");
    EXPECT_EQ(reason({4, 2, 8}), "it holds one stage per rank, and stages_per_rank is 2");
}

TEST(DualPipeV, EqualsDeepSeeksOrder) {
    EXPECT_EQ(to_text(generate("dualpipe-v", {2, 2, 4})),
              "0F0 0F1 0F2 3F0 3I0 3W0 3F1 (0F3;3B1)OVERLAP_F_B (3F2;0B0)OVERLAP_F_B 3B2 "
              "(3F3;0B1)OVERLAP_F_B 3B3 0I2 0W2 0I3 0W3\n"
              "1F0 2F0 1F1 2F1 1F2 2B0 (2F2;1B0)OVERLAP_F_B (1F3;2B1)OVERLAP_F_B "
              "(2F3;1B1)OVERLAP_F_B 2B2 1B2 2I3 1I3 2W3 1W3\n");
    EXPECT_EQ(to_text(generate("dualpipe-v", {3, 2, 7})),
              "0F0 0F1 0F2 0F3 0F4 5F0 5I0 5W0 5F1 5I1 5W1 5F2 (0F5;5B2)OVERLAP_F_B "
              "(5F3;0B0)OVERLAP_F_B (0F6;5B3)OVERLAP_F_B (5F4;0B1)OVERLAP_F_B 5B4 "
              "(5F5;0B2)OVERLAP_F_B 5B5 (5F6;0B3)OVERLAP_F_B 5B6 0I4 0W4 0I5 0W5 0I6 0W6\n"
              "1F0 1F1 1F2 4F0 1F3 4F1 4I0 4W0 4F2 (1F4;4B1)OVERLAP_F_B (4F3;1B0)OVERLAP_F_B "
              "(1F5;4B2)OVERLAP_F_B (4F4;1B1)OVERLAP_F_B (1F6;4B3)OVERLAP_F_B "
              "(4F5;1B2)OVERLAP_F_B 4B4 (4F6;1B3)OVERLAP_F_B 4B5 1B4 4I6 1I5 4W6 1I6 1W5 1W6\n"
              "2F0 3F0 2F1 3F1 2F2 3F2 2F3 3B0 (3F3;2B0)OVERLAP_F_B (2F4;3B1)OVERLAP_F_B "
              "(3F4;2B1)OVERLAP_F_B (2F5;3B2)OVERLAP_F_B (3F5;2B2)OVERLAP_F_B "
              "(2F6;3B3)OVERLAP_F_B (3F6;2B3)OVERLAP_F_B 3B4 2B4 3B5 2I5 3I6 2I6 2W5 3W6 2W6\n");
}

TEST(DualPipeV, HasHalfTheBubblePerRankOfATwiceAsLongDualPipe) {
    for (const int p : {1, 2, 3, 4, 8}) {
        for (const int m : {2 * p, 2 * p + 3, 5 * p}) {
            const Replay r = replay(generate("dualpipe-v", {p, 2, m}), overlapped_costs(2, 0));
            EXPECT_NEAR(seconds(r.makespan), 3 * m + (p - 1) * (3 + 2 - 3) / 2.0, 1e-9);
            EXPECT_LE(peak(r, 2), p + 0.5);
        }
    }
}

}  // namespace
}  // namespace debubble
