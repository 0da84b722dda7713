#include "gui/viewmodel/timeline/playing.h"

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {
namespace {

using std::chrono::milliseconds;

TEST(Playing, says_what_every_rank_does_and_for_whom_it_waits) {
    const Document document = document_of(plan("gpipe", 2, 4));
    // Rank 1 begins with 1F0, which needs 0F0.
    const Bars& first = document->devices[0].work;
    const Instant early = first[0].begin + (first[0].end - first[0].begin) / 2;
    const Now now = now_at(*document, early);
    ASSERT_EQ(now.devices.size(), 2U);
    EXPECT_EQ(now.devices[0].span, first[0].span);
    ASSERT_TRUE(now.devices[1].bubble);
    EXPECT_THAT(now.devices[1].words, testing::StartsWith("begins in "));
    // Between its last forward and its first backward rank 0 waits for rank 1.
    const Instant middle = first[3].end + (first[4].begin - first[3].end) / 2;
    const Now later = now_at(*document, middle);
    ASSERT_TRUE(later.devices[0].bubble);
    EXPECT_THAT(later.devices[0].words, testing::StartsWith("waits for 1"));
    EXPECT_THAT(later.devices[0].words, testing::HasSubstr(" of rank 1, "));
    EXPECT_TRUE(later.devices[1].span);
}

TEST(Playing, at_every_instant_of_the_step_a_rank_runs_or_is_in_a_bubble) {
    const Document document = document_of(plan("1f1b", 3, 5));
    const Duration whole = document->range.length();
    for (int i = 0; i < 200; ++i) {
        const Instant at = document->range.begin + whole * i / 200;
        for (const DeviceState& doing : now_at(*document, at).devices) {
            EXPECT_TRUE(doing.span || doing.bubble) << i;
            EXPECT_EQ(doing.bubble.has_value(), !doing.words.empty());
        }
    }
}

TEST(Playing, two_plans_run_on_one_clock_and_say_how_far_they_are) {
    Scene scene;
    scene.main.document = document_of(plan("1f1b", 2, 8));
    EXPECT_EQ(comparison_progress(scene, scene.main.document->range.begin), "");
    scene.other.document = document_of(plan("gpipe", 2, 16));
    scene.comparison = true;
    const TimeRange first = scene.main.document->range;
    EXPECT_EQ(comparison_progress(scene, first.begin), "A 0 %, B 0 %");
    // A takes (8 + 1) x 3 ms. Halfway B has 13 of 16 forwards on rank 0 and 12 on rank 1, at A's
    // end all of them and 4 and 5 backwards.
    EXPECT_EQ(comparison_progress(scene, first.begin + first.length() / 2), "A 50 %, B 39 %");
    EXPECT_EQ(comparison_progress(scene, first.end), "A done at 27 ms, B 64 %");
    scene.other.shift = std::chrono::milliseconds(5);  // its clock starts later
    EXPECT_EQ(comparison_progress(scene, scene.other.document->range.end),
              "A done at 27 ms, B 92 %");
}

TEST(Playing, the_cursor_runs_through_what_is_in_sight_and_ends_with_the_step) {
    TimeAxis axis({Instant{}, Instant{milliseconds(1200)}}, 600);
    const auto half = advanced(axis, Instant{}, kSecondsAcross / 2);
    ASSERT_TRUE(half);
    EXPECT_EQ(*half, Instant{milliseconds(600)});
    axis.show({Instant{}, Instant{milliseconds(120)}});
    EXPECT_EQ(*advanced(axis, Instant{}, kSecondsAcross / 2), Instant{milliseconds(60)})
        << "a closer view plays slower";
    EXPECT_FALSE(advanced(axis, Instant{milliseconds(1195)}, 1));
}

}  // namespace
}  // namespace debubble::gui
