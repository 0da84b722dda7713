#include "trace/picture/document/colour_sums.h"

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {
namespace {

std::vector<Rgb> random_colours(std::mt19937& random, std::size_t count) {
    std::uniform_int_distribution<int> channel(0, 255);
    std::vector<Rgb> colours(count);
    for (Rgb& c : colours) {
        c.red = static_cast<std::uint8_t>(channel(random));
        c.green = static_cast<std::uint8_t>(channel(random));
        c.blue = static_cast<std::uint8_t>(channel(random));
    }
    return colours;
}

/// The sum by definition: every bar's part of the window.
ColourArea area_by_hand(const Bars& bars, const std::vector<Rgb>& colours, TimeRange window) {
    ColourArea sum;
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const std::int64_t part =
            (std::min(bars[i].end, window.end) - std::max(bars[i].begin, window.begin)).count();
        if (part <= 0) continue;
        sum += {part, part * colours[i].red, part * colours[i].green, part * colours[i].blue};
    }
    return sum;
}

TEST(ColourSums, OfAnyWindowAreExact) {
    std::mt19937 random(5);
    const Bars bars = random_bars(random, 300);
    const auto colours = random_colours(random, bars.size());
    const ColourSums sums(bars, colours);
    std::uniform_int_distribution<std::int64_t> time(-1000,
                                                     bars.back().end.time_since_epoch().count());
    for (int round = 0; round < 2000; ++round) {
        const auto [a, b] = std::minmax({time(random), time(random) + 1000});
        const TimeRange window{at(a), at(b)};
        EXPECT_EQ(sums.over(window), area_by_hand(bars, colours, window));
    }
}

TEST(ColourSums, WalkedThroughAreThoseOfEachWindow) {
    std::mt19937 random(6);
    for (const std::int64_t step : {1, 17, 400, 5000, 100'000'000}) {
        const Bars bars = random_bars(random, 200);
        const auto colours = random_colours(random, bars.size());
        const ColourSums sums(bars, colours);
        ColourSums::Walk walk(sums);
        const std::int64_t end = std::max(bars.back().end.time_since_epoch().count(), step);
        ColourArea left = walk.until(at(-3));
        for (std::int64_t now = -3; now <= end + step; now += step) {
            const ColourArea right = walk.until(at(now + step));
            ASSERT_EQ(right - left, sums.over({at(now), at(now + step)})) << now << " by " << step;
            left = right;
        }
    }
}

TEST(ColourSums, OfASparseTrackKnowOneBurstFromAnother) {
    Bars bars;
    for (std::uint32_t i = 0; i < 1000; ++i) bars.push_back({at(2 * i), at(2 * i + 1), i});
    bars.push_back({at(4'000'000'000'000), at(4'000'000'000'007), 1000});
    const ColourSums sums(bars, std::vector<Rgb>(bars.size(), Rgb{1, 1, 1}));
    EXPECT_EQ(sums.over({at(0), at(5'000'000'000'000)}).covered, 1007);
    ColourSums::Walk walk(sums);
    EXPECT_EQ(walk.until(at(10)).covered, 5);
    EXPECT_EQ(walk.until(at(4'000'000'000'002)).covered, 1002);
}

TEST(ColourSums, OfNothingAreNothing) {
    const ColourSums sums({}, {});
    EXPECT_EQ(sums.over({at(-5), at(5)}), ColourArea{});
    ColourSums::Walk walk(sums);
    EXPECT_EQ(walk.until(at(7)), ColourArea{});
}

TEST(Blend, IsTheMeanByArea) {
    const ColourArea half{50, 50 * 200, 50 * 100, 0};
    EXPECT_EQ(blend(half, Duration{100}, {0, 0, 100}), (Rgb{100, 50, 50}));
    EXPECT_EQ(blend({}, Duration{100}, {1, 2, 3}), (Rgb{1, 2, 3}));
    // Two tracks on one lane cover more than its length: no channel may overflow.
    EXPECT_EQ(blend({200, 200 * 255, 0, 0}, Duration{100}, {0, 255, 0}), (Rgb{255, 0, 0}));
}

}  // namespace
}  // namespace debubble::gui
