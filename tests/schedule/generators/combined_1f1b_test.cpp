#include <algorithm>

#include <gmock/gmock.h>

#include "schedule/generators/generators.h"
#include "tests/schedule/generators/search_cases.h"

/// Megatron-Core's combined 1F1B: orders that its own schedule function gave, and times that were
/// checked apart.
namespace debubble {
namespace {

TEST(Combined1F1B, EqualsMegatronsOrder) {
    EXPECT_EQ(to_text(generate("combined-1f1b", {2, 2, 4})),
              "0F0 0F1 2F0 2F1 0F2 (0F3;2B0)OVERLAP_F_B (2F2;2B1)OVERLAP_F_B "
              "(2F3;0B0)OVERLAP_F_B 0B1 2B2 2B3 0B2 0B3\n"
              "1F0 1F1 3F0 (3F1;3B0)OVERLAP_F_B (1F2;3B1)OVERLAP_F_B (1F3;1B0)OVERLAP_F_B "
              "(3F2;1B1)OVERLAP_F_B (3F3;3B2)OVERLAP_F_B 3B3 1B2 1B3\n");
    EXPECT_EQ(
        to_text(generate("combined-1f1b", {4, 2, 8})),
        "0F0 0F1 0F2 0F3 4F0 4F1 4F2 4F3 0F4 0F5 0F6 (0F7;4B0)OVERLAP_F_B (4F4;4B1)OVERLAP_F_B "
        "(4F5;4B2)OVERLAP_F_B (4F6;4B3)OVERLAP_F_B (4F7;0B0)OVERLAP_F_B 0B1 0B2 0B3 4B4 4B5 4B6 "
        "4B7 0B4 0B5 0B6 0B7\n"
        "1F0 1F1 1F2 1F3 5F0 5F1 5F2 5F3 1F4 (1F5;5B0)OVERLAP_F_B (1F6;5B1)OVERLAP_F_B "
        "(1F7;5B2)OVERLAP_F_B (5F4;5B3)OVERLAP_F_B (5F5;1B0)OVERLAP_F_B (5F6;1B1)OVERLAP_F_B "
        "(5F7;1B2)OVERLAP_F_B 1B3 5B4 5B5 5B6 5B7 1B4 1B5 1B6 1B7\n"
        "2F0 2F1 2F2 2F3 6F0 6F1 6F2 (6F3;6B0)OVERLAP_F_B (2F4;6B1)OVERLAP_F_B "
        "(2F5;6B2)OVERLAP_F_B (2F6;6B3)OVERLAP_F_B (2F7;2B0)OVERLAP_F_B (6F4;2B1)OVERLAP_F_B "
        "(6F5;2B2)OVERLAP_F_B (6F6;2B3)OVERLAP_F_B (6F7;6B4)OVERLAP_F_B 6B5 6B6 6B7 2B4 2B5 2B6 "
        "2B7\n"
        "3F0 3F1 3F2 3F3 7F0 (7F1;7B0)OVERLAP_F_B (7F2;7B1)OVERLAP_F_B (7F3;7B2)OVERLAP_F_B "
        "(3F4;7B3)OVERLAP_F_B (3F5;3B0)OVERLAP_F_B (3F6;3B1)OVERLAP_F_B (3F7;3B2)OVERLAP_F_B "
        "(7F4;3B3)OVERLAP_F_B (7F5;7B4)OVERLAP_F_B (7F6;7B5)OVERLAP_F_B (7F7;7B6)OVERLAP_F_B 7B7 "
        "3B4 3B5 3B6 3B7\n");
    EXPECT_EQ(to_text(generate("combined-1f1b", {1, 1, 3})),
              "0F0 (0F1;0B0)OVERLAP_F_B (0F2;0B1)OVERLAP_F_B 0B2\n");
}

double makespan(const PipelineShape& shape, double link, double exchange = 0) {
    PipelineCosts costs = share_costs(shape.stages_per_rank, link);
    const double v = shape.stages_per_rank;
    costs.overlap = from_seconds(3 / v);
    costs.stages.front().forward += from_seconds(exchange / v);
    costs.stages.front().backward_input += from_seconds(exchange / v);
    return seconds(replay(generate("combined-1f1b", shape), costs).makespan);
}

TEST(Combined1F1B, TakesTheCheckedTimes) {
    struct Case {
        PipelineShape shape;
        double free;
        double with_links;
    };
    for (const auto& [shape, free, with_links] :
         {Case{{2, 2, 4}, 13.5, 14.5}, Case{{4, 2, 8}, 28.5, 30.9}, Case{{4, 2, 16}, 52.5, 56.5},
          Case{{4, 4, 8}, 26.25, 31.05}, Case{{8, 2, 16}, 58.5, 63.7},
          Case{{2, 4, 8}, 24.75, 28.55}}) {
        EXPECT_NEAR(makespan(shape, 0), free, 1e-6);
        EXPECT_NEAR(makespan(shape, 0.1), with_links, 1e-6);
        const Schedule plain = generate("interleaved-1f1b", shape);
        EXPECT_NEAR(seconds(replay(plain, share_costs(shape.stages_per_rank, 0)).makespan), free,
                    1e-6);
    }
}

/// Exchanges of half a forward, in forwards and in backwards, that only pairs hide.
TEST(Combined1F1B, LeavesTheExchangesOfLonePassesExposed) {
    EXPECT_NEAR(makespan({2, 2, 4}, 0, 0.5), 15.5, 1e-6);
    EXPECT_NEAR(makespan({4, 2, 8}, 0, 0.5), 32.5, 1e-6);
    EXPECT_NEAR(makespan({4, 2, 16}, 0, 0.5), 56.5, 1e-6);
}

TEST(Combined1F1B, HoldsOneChunkMoreThanInterleaved1F1B) {
    for (const int p : {2, 4, 8})
        for (const int v : {2, 3, 4})
            for (const int m : {p, 2 * p, 4 * p}) {
                const auto live = [&](const char* name) {
                    const Replay r = replay(generate(name, {p, v, m}), share_costs(v, 0));
                    std::vector<int> chunks;
                    for (const double stages : r.peak_live_until_weight)
                        chunks.push_back(static_cast<int>(stages + 0.5));
                    return chunks;
                };
                const std::vector<int> mine = live("combined-1f1b");
                const std::vector<int> plain = live("interleaved-1f1b");
                for (int rank = 0; rank < p; ++rank) {
                    EXPECT_EQ(mine[rank], std::min(m * v, 2 * (p - rank - 1) + (v - 1) * p + 2));
                    EXPECT_LE(mine[rank] - plain[rank], 1);
                }
            }
}

TEST(Combined1F1B, TakesLargerGroupsAndShortLastOnes) {
    GeneratorOptions options;
    options.values["group"] = "6";
    const Schedule schedule = generate("combined-1f1b", {4, 2, 16}, options);
    int pairs = 0;
    for (const Action& action : schedule.ranks.back())
        pairs += std::holds_alternative<Overlap>(action) ? 1 : 0;
    EXPECT_EQ(pairs, 2 * 16 - (6 + 1));
    EXPECT_GT(seconds(replay(schedule, unit_costs()).makespan), 0);
}

TEST(Combined1F1B, SaysWhyNot) {
    const Generator* row = find_generator("combined-1f1b");
    const auto why = [&](const PipelineShape& shape, const char* key = "", const char* value = "") {
        GeneratorOptions options;
        if (*key != '\0') options.values[key] = value;
        return row->why_not(shape, options).value_or("");
    };
    EXPECT_EQ(why({4, 1, 8}),
              "with several ranks the overlap of experts needs several stages per rank (Megatron: "
              "virtual pipeline parallelism must be enabled)");
    EXPECT_EQ(why({1, 2, 8}), "one rank has no use for 2 stages");
    EXPECT_EQ(why({4, 2, 3}), "it needs at least 4 microbatches, one per rank, and there are 3");
    EXPECT_EQ(why({4, 2, 9}),
              "9 microbatches in groups of 4 leave a last group of 1, fewer than the 4 ranks");
    EXPECT_EQ(why({4, 2, 8}, "delay_wgrad", "maybe"),
              "delay_wgrad must be true or false, not 'maybe'");
    EXPECT_EQ(why({4, 2, 8}, "delay_wgrad", "true"), "");
}

}  // namespace
}  // namespace debubble
