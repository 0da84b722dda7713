#include "trace/picture/document/track.h"

#include <numeric>

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {
namespace {

Trace spans_of(std::vector<std::pair<std::int64_t, std::int64_t>> times) {
    Trace trace;
    for (const auto& [begin, end] : times)
        trace.spans.push_back({Rank{0}, 0, Lane::Send, GradNorm{}, at(begin), at(end), {}, {}});
    return trace;
}

std::vector<std::uint32_t> all_of(const Trace& trace) {
    std::vector<std::uint32_t> spans(trace.spans.size());
    std::iota(spans.begin(), spans.end(), 0U);
    return spans;
}

TEST(Tracks, AreAsManyAsSpansThatOverlapAtOnce) {
    const Trace trace = spans_of({{0, 10}, {2, 4}, {3, 8}, {4, 6}, {10, 11}, {10, 12}});
    const auto tracks = tracks_of(trace, all_of(trace));
    EXPECT_THAT(tracks, testing::SizeIs(3));
    std::size_t bars = 0;
    for (const Bars& track : tracks) {
        bars += track.size();
        for (std::size_t i = 1; i < track.size(); ++i) EXPECT_LE(track[i - 1].end, track[i].begin);
    }
    EXPECT_EQ(bars, 6);
}

TEST(Tracks, LeaveOutWhatHasNoLength) {
    const Trace trace = spans_of({{0, 10}, {5, 5}, {10, 11}});
    EXPECT_THAT(tracks_of(trace, all_of(trace)), testing::ElementsAre(testing::SizeIs(2)));
}

TEST(Bars, InARangeAreThoseThatMeetIt) {
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
        const Bars bars = random_bars(random, 40);
        std::uniform_int_distribution<std::int64_t> time(-100, 40'000);
        const std::int64_t a = time(random);
        const TimeRange range{at(a), at(a + std::abs(time(random)) / 8 + 1)};
        const auto [first, last] = bars_in(bars, range);
        for (std::size_t i = 0; i < bars.size(); ++i)
            EXPECT_EQ(i >= first && i < last, bars[i].range().meets(range));
    }
}

TEST(Bars, AreHitWhereTheirBoxesAreDrawn) {
    std::mt19937 random(4);
    const Bars bars = random_bars(random, 500);
    TimeAxis axis({at(0), bars.back().end}, 1920);
    axis.zoom(12, 900);
    const std::vector<Box> boxes = visible_boxes(bars, axis);
    ASSERT_FALSE(boxes.empty());
    for (int x = 0; x < 1920; ++x) {
        const Instant pointed = axis.at(x);
        const double exact = axis.x(pointed);
        const auto box = std::ranges::find_if(
            boxes, [&](const Box& b) { return b.left <= exact && exact < b.right; });
        const Bar* bar = bar_at(bars, pointed);
        ASSERT_EQ(bar != nullptr, box != boxes.end()) << x;
        if (bar == nullptr) continue;
        EXPECT_EQ(bar->span, box->span);
    }
}

TEST(Bars, HaveAMeanWidthInSight) {
    const Bars bars{{at(0), at(100), 0}, {at(100), at(200), 1}, {at(200), at(400), 2}};
    const TimeAxis axis({at(0), at(400)}, 100);
    EXPECT_DOUBLE_EQ(mean_width(bars, axis), 100.0 / 3);
    EXPECT_EQ(mean_width({}, axis), 0);
}

}  // namespace
}  // namespace debubble::gui
