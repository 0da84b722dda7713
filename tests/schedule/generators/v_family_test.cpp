#include <gmock/gmock.h>

#include "schedule/generators/generators.h"
#include "schedule/generators/search/building_block.h"
#include "tests/schedule/generators/search_cases.h"

namespace debubble {
namespace {

Replay played(const char* name, const PipelineShape& shape, const PipelineCosts& costs) {
    GeneratorOptions options;
    options.costs = costs;
    return replay(generate(name, shape, options), costs);
}

/// Beyond the work, in passes of one chunk at F = I = W.
double chunk_bubble(const Replay& r, const PipelineShape& shape) {
    const Duration work = std::chrono::seconds(3) * shape.micro_batches;
    return static_cast<double>((r.makespan - work).count()) / 5e8;
}

struct Checked {
    const char* name;
    double makespan, makespan_with_link, peak;
};

/// Published orders, four ranks and eight microbatches at F = I = W = 1, without and with a
/// link delay of 0.1. A search may do better.
TEST(VFamily, IsAtOrUnderThePublishedTimes) {
    for (const Checked& c : {Checked{"zb-v", 25.5, 26.8, 4}, Checked{"v-half", 26.5, 28.7, 3},
                             Checked{"v-min", 29.5, 33.5, 2}, Checked{"1f1b-v", 31.5, 34.7, 3}}) {
        const Replay free = played(c.name, {4, 2, 8}, share_costs(2, 0));
        EXPECT_NEAR(seconds(free.makespan), c.makespan, 1e-9) << c.name;
        EXPECT_EQ(peak(free, 2), c.peak) << c.name;
        const Replay linked = played(c.name, {4, 2, 8}, share_costs(2, 0.1));
        EXPECT_LE(seconds(linked.makespan), c.makespan_with_link + 1e-9) << c.name;
        EXPECT_LE(peak(linked, 2), c.peak) << c.name;
    }
}

TEST(VFamily, ZbVHasNoBubbleInSpan) {
    for (const int p : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16}) {
        for (const int m : {2 * p, 2 * p + 1, 5 * p}) {
            const Replay r = played("zb-v", {p, 2, m}, share_costs(2, 0));
            EXPECT_NEAR(r.span_bubble, 0, 1e-12) << p << " ranks, " << m << " microbatches";
            EXPECT_EQ(chunk_bubble(r, {p, 2, m}), p - 1);
            EXPECT_EQ(peak(r, 2), p);
        }
    }
}

TEST(VFamily, VHalfHasThePapersBubbleOnEvenRanks) {
    for (const int p : {4, 6, 8, 12}) {
        for (const int m : {2 * p, 3 * p + 1}) {
            const Replay r = played("v-half", {p, 2, m}, share_costs(2, 0));
            EXPECT_LE(chunk_bubble(r, {p, 2, m}), 3 * p - 7) << p << " ranks, " << m;
            EXPECT_LE(peak(r, 2), (p + 2) / 2);
        }
    }
}

TEST(VFamily, VMinAndOneFOneBVHaveThePapersBubble) {
    for (const int p : {4, 8}) {
        for (const int m : {2 * p, 3 * p + 1, 8 * p}) {
            const PipelineShape shape{p, 2, m};
            const Replay min = played("v-min", shape, share_costs(2, 0));
            EXPECT_LE(chunk_bubble(min, shape), p == 4 ? 11 : 23);
            EXPECT_LE(peak(min, 2), (p + 4) / 3);
            const Replay fused = played("1f1b-v", shape, share_costs(2, 0));
            EXPECT_LE(chunk_bubble(fused, shape), p == 4 ? 15 : 33);
            EXPECT_LE(peak(fused, 2), 3 * p / 4);
        }
    }
}

TEST(VFamily, KeepsItsMemoryAtAnyCosts) {
    struct Limit {
        const char* name;
        int (*of)(int ranks);
    };
    const Limit limits[] = {{"zb-v", [](int p) { return p; }},
                            {"v-half", [](int p) { return (p + 2) / 2; }},
                            {"v-min", [](int p) { return (p + 4) / 3; }},
                            {"1f1b-v", [](int p) { return std::min(p, 2 * p / 3 + 1); }}};
    std::mt19937 random(2405);
    for (int i = 0; i < 18; ++i) {
        const int p = 1 + i % 6;
        const PipelineShape shape{p, 2, 1 + static_cast<int>(random() % 9)};
        GeneratorOptions options;
        options.costs = random_costs(random, shape.stages());
        for (const Limit& limit : limits) {
            const Schedule schedule = generate(limit.name, shape, options);
            const Replay r = replay(schedule, options.costs);
            EXPECT_LE(peak(r, 2), limit.of(p)) << limit.name;
            EXPECT_GE(r.makespan, lower_bound(schedule, options.costs)) << limit.name;
        }
    }
}

TEST(VFamily, RefusesCostsThatItCannotSearchWith) {
    const auto reason = [](const PipelineCosts& costs) {
        GeneratorOptions options;
        options.costs = costs;
        return find_generator("v-half")->why_not({4, 2, 8}, options).value_or("");
    };
    PipelineCosts costs = unit_costs();
    costs.stages.resize(3);
    EXPECT_EQ(reason(costs), "there are costs for 3 stages, and 4 x 2 = 8 stages");
    EXPECT_EQ(reason({{{Duration{-1}, {}, {}}}, {}, {}}), "a cost is negative");
    EXPECT_EQ(reason({{}, {}, {}}), "there are costs for 0 stages, and 4 x 2 = 8 stages");
    EXPECT_EQ(reason({{{Duration::max(), {}, {}}}, {}, {}}),
              "its passes would take more than 10000000 seconds in all");
}

/// 2405.15362, section 4.1: when rank i starts forward 0 and 1, backward 0 and 1.
TEST(BuildingBlock, LaysThePapersBlocks) {
    for (const int p : {4, 6, 8, 10}) {
        BuildingBlock half;
        for (int i = 0; i < p; ++i)
            half.start.push_back({2 * i, 3 * p - i - 2, 6 * p + 3 - i - 2, 3 * p + 3 + 2 * i - 1});
        EXPECT_EQ(lay_block(p, {{2, 1, 2, 1}, 4, 2}, 1), half) << "V-Half on " << p;
    }
    for (const int p : {2, 4, 5, 7, 8}) {
        BuildingBlock min;
        for (int i = 0; i < p; ++i)
            min.start.push_back({i, 2 * p - 1 - i, 4 * p - 1 - i, 2 * p + i});
        EXPECT_EQ(lay_block(p, {}, 1), min) << "V-Min on " << p;
    }
}

TEST(BuildingBlock, NeverCollidesWithItsRepetitions) {
    for (int p = 1; p <= 9; ++p)
        for (int stride = 1; stride <= 4; ++stride)
            for (const int backward_units : {1, 2}) {
                const auto block = lay_block(p, {{stride, 1, 1, stride}, 1, 3}, backward_units);
                if (!block) continue;
                for (const auto& row : block->start) {
                    std::vector<int> units;
                    for (int pass = 0; pass < 4; ++pass)
                        for (int i = 0; i < (pass < 2 ? 1 : backward_units); ++i)
                            units.push_back((row[pass] + i) % BuildingBlock::kPeriod);
                    std::ranges::sort(units);
                    EXPECT_EQ(std::ranges::adjacent_find(units), units.end());
                }
            }
}

}  // namespace
}  // namespace debubble
