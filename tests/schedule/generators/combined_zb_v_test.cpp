#include <gmock/gmock.h>

#include "schedule/generators/generators.h"
#include "tests/schedule/generators/search_cases.h"

/// Primus's pairs on a V: the orders that its own function makes.
namespace debubble {
namespace {

TEST(CombinedZbV, EqualsPrimussOrder) {
    EXPECT_EQ(to_text(generate("combined-zb-v", {2, 2, 4})),
              "0F0 0F1 0F2 3F0 3I0 3W0 3F1 3I1 3W1 (0F3;0I0)OVERLAP_F_B 0W0 3F2 3I2 3W2 0I1 0W1 "
              "3F3 3I3 3W3 0I2 0W2 0I3 0W3\n"
              "1F0 2F0 1F1 2F1 2I0 2W0 (1F2;1I0)OVERLAP_F_B 1W0 (2F2;2I1)OVERLAP_F_B 2W1 "
              "(1F3;1I1)OVERLAP_F_B 1W1 (2F3;2I2)OVERLAP_F_B 2W2 1I2 2I3 1I3 1W2 2W3 1W3\n");
    EXPECT_EQ(to_text(generate("combined-zb-v", {4, 2, 8})),
              "0F0 0F1 0F2 0F3 0F4 0F5 0F6 7F0 7I0 7W0 7F1 7I1 7W1 7F2 7I2 7W2 7F3 7I3 7W3 "
              "(0F7;0I0)OVERLAP_F_B 0W0 7F4 7I4 7W4 0I1 0W1 7F5 7I5 7W5 0I2 0W2 7F6 7I6 7W6 0I3 "
              "0W3 7F7 7I7 7W7 0I4 0W4 0I5 0W5 0I6 0W6 0I7 0W7\n"
              "1F0 1F1 1F2 1F3 1F4 6F0 1F5 6F1 6I0 6W0 6F2 6I1 6W1 6F3 6I2 6W2 "
              "(1F6;1I0)OVERLAP_F_B 1W0 (6F4;6I3)OVERLAP_F_B 6W3 (1F7;1I1)OVERLAP_F_B 1W1 "
              "(6F5;6I4)OVERLAP_F_B 6W4 1I2 1W2 (6F6;6I5)OVERLAP_F_B 6W5 1I3 1W3 "
              "(6F7;6I6)OVERLAP_F_B 6W6 1I4 6I7 1I5 1W4 1I6 1W5 1I7 1W6 6W7 1W7\n"
              "2F0 2F1 2F2 5F0 2F3 5F1 2F4 5F2 5I0 5W0 5F3 5I1 5W1 (2F5;2I0)OVERLAP_F_B 2W0 "
              "(5F4;5I2)OVERLAP_F_B 5W2 (2F6;2I1)OVERLAP_F_B 2W1 (5F5;5I3)OVERLAP_F_B 5W3 "
              "(2F7;2I2)OVERLAP_F_B 2W2 (5F6;5I4)OVERLAP_F_B 5W4 2I3 2W3 (5F7;5I5)OVERLAP_F_B "
              "5W5 2I4 5I6 2I5 5I7 2I6 2W4 2I7 2W5 5W6 5W7 2W6 2W7\n"
              "3F0 4F0 3F1 4F1 3F2 4F2 3F3 4F3 4I0 4W0 (3F4;3I0)OVERLAP_F_B 3W0 "
              "(4F4;4I1)OVERLAP_F_B 4W1 (3F5;3I1)OVERLAP_F_B 3W1 (4F5;4I2)OVERLAP_F_B 4W2 "
              "(3F6;3I2)OVERLAP_F_B 3W2 (4F6;4I3)OVERLAP_F_B 4W3 (3F7;3I3)OVERLAP_F_B 3W3 "
              "(4F7;4I4)OVERLAP_F_B 4W4 3I4 4I5 3I5 4I6 3I6 4I7 3I7 3W4 4W5 4W6 4W7 3W5 3W6 3W7\n");
}

TEST(CombinedZbV, PairsPassesOfTwoMicroBatchesStagesAndHoldsWhatZbVHolds) {
    for (int p = 1; p <= 8; ++p) {
        for (const int m : {2 * p - 1, 2 * p, 3 * p + 1}) {
            const PipelineShape shape{p, 2, m};
            const Schedule schedule = generate("combined-zb-v", shape);
            int pairs = 0;
            for (const ActionList& list : schedule.ranks)
                for (const Action& action : list)
                    if (const auto* pair = std::get_if<Overlap>(&action)) {
                        ++pairs;
                        EXPECT_EQ(pair->first.pass, Pass::Forward);
                        EXPECT_EQ(pair->second.pass, Pass::BackwardInput);
                        EXPECT_FALSE(pair->first.stage == pair->second.stage &&
                                     pair->first.micro_batch == pair->second.micro_batch);
                    }
            EXPECT_GE(pairs, m > 2 * p - 1 ? p : 0) << p << " ranks, " << m << " microbatches";
            EXPECT_LE(peak(replay(schedule, share_costs(2, 0.1)), 2), p);
        }
    }
}

TEST(CombinedZbV, SaysWhatShapesItTakes) {
    const auto reason = [](const PipelineShape& shape) {
        return find_generator("combined-zb-v")->why_not(shape, {}).value_or("");
    };
    EXPECT_EQ(reason({4, 2, 7}), "");
    EXPECT_EQ(reason({4, 2, 6}), "it needs at least 2 x 4 - 1 = 7 microbatches, and there are 6");
    EXPECT_NE(reason({4, 1, 8}), "");
}

}  // namespace
}  // namespace debubble
