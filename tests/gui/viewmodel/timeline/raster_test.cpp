#include "trace/picture/raster.h"

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {
namespace {

constexpr Rgb kIdle{10, 20, 30};
constexpr Rgb kOutside{1, 1, 1};

struct Image {
    Image(int width, int height) : width_(width), height_(height), pixels_(width * height) {}
    Canvas canvas() { return {pixels_.data(), width_, height_, width_}; }
    std::uint32_t at(int x, int y) const { return pixels_[y * width_ + x]; }
    std::size_t count(Rgb colour) const { return std::ranges::count(pixels_, pixel(colour)); }

private:
    int width_;
    int height_;
    std::vector<std::uint32_t> pixels_;
};

int red_of(std::uint32_t pixel) {
    return static_cast<int>(pixel >> 16U & 0xffU);
}

TEST(MeanColours, OfAPatternFinerThanPixelsAreEvenAndTrue) {
    // One in three nanoseconds is white: any window is a third grey, and nothing flickers.
    Bars bars;
    for (std::uint32_t i = 0; i < 100'000; ++i) bars.push_back({at(3 * i), at(3 * i + 1), i});
    const ColourSums sums(bars, std::vector<Rgb>(bars.size(), Rgb{255, 255, 255}));
    const ColourSums* tracks[] = {&sums};
    const BarGround ground{{at(0), at(300'000)}, {0, 0, 0}, {0, 0, 0}};
    for (const double width : {100.0, 333.0, 997.0}) {
        const TimeAxis axis({at(0), at(300'000)}, width);
        for (const std::uint32_t colour : mean_colours(tracks, axis, ground))
            EXPECT_NEAR(red_of(colour), 85, 1);
    }
}

TEST(MeanColours, AddUpToTheBusyTime) {
    std::mt19937 random(8);
    const Bars bars = random_bars(random, 2000);
    const ColourSums sums(bars, std::vector<Rgb>(bars.size(), Rgb{255, 0, 0}));
    const ColourSums* tracks[] = {&sums};
    std::int64_t busy = 0;
    for (const Bar& bar : bars) busy += (bar.end - bar.begin).count();
    const TimeAxis axis({at(0), bars.back().end}, 1000);
    double sum = 0;
    for (const std::uint32_t c : mean_colours(tracks, axis, {axis.whole(), {}, {}}))
        sum += red_of(c) / 255.0 * axis.ns_per_pixel();
    EXPECT_NEAR(sum / static_cast<double>(busy), 1, 2e-3);  // colours are whole numbers
}

TEST(MeanColours, ShowTheGroundOfWhereTheyAre) {
    const ColourSums none({}, {});
    const ColourSums* tracks[] = {&none};
    const TimeAxis axis({at(0), at(1000)}, 10);
    const auto colours = mean_colours(tracks, axis, {{at(0), at(500)}, kIdle, kOutside});
    EXPECT_EQ(colours.front(), pixel(kIdle));
    EXPECT_EQ(colours.back(), pixel(kOutside));
}

TEST(Raster, CutsOffWhatLiesOutside) {
    Image image(20, 10);
    fill(image.canvas(), -5, 100, {-3, 5}, {255, 0, 0});
    EXPECT_EQ(image.count({255, 0, 0}), 40);
    hatch(image.canvas(), -50, 500, {-7, 100}, {0, 255, 0}, 5, 1);
    EXPECT_EQ(image.count({0, 255, 0}), 40);
    const std::vector<std::uint32_t> wide(100, pixel({0, 0, 255}));
    fill_columns(image.canvas(), {8, 50}, wide);
    EXPECT_EQ(image.count({0, 0, 255}), 40);
}

TEST(Hatch, MovesWithWhatItFills) {
    Image here(40, 12);
    Image there(40, 12);
    hatch(here.canvas(), 3, 20, {0, 12}, {255, 255, 255}, 6, 1);
    hatch(there.canvas(), 14, 31, {0, 12}, {255, 255, 255}, 6, 1);
    for (int y = 0; y < 12; ++y)
        for (int x = 0; x < 29; ++x) EXPECT_EQ(here.at(x, y), there.at(x + 11, y));
    EXPECT_EQ(here.count({255, 255, 255}), there.count({255, 255, 255}));
}

TEST(FillSteps, GivesEveryPixelItsUppermostLevelOrTheGround) {
    constexpr int kWidth = 23;
    constexpr int kHeight = 17;
    constexpr Band kBand{3, 12};
    std::mt19937 random(5);
    for (int round = 0; round < 50; ++round) {
        // Some extend beyond the band, and some are constant, like parameters.
        std::vector<StepLevel> levels;
        for (std::uint8_t i = 0; i < 3; ++i) {
            StepLevel& level = levels.emplace_back(StepLevel{{}, {i, 99, i}});
            std::uniform_int_distribution<int> line(-2, kHeight + 2);
            const int flat = line(random);
            for (int x = 0; x < kWidth; ++x)
                level.tops.push_back((round + i) % 3 == 0 ? flat : line(random));
        }
        const std::optional<Rgb> ground = round % 2 == 0 ? std::optional(kOutside) : std::nullopt;
        Image image(kWidth, kHeight);
        fill_steps(image.canvas(), kBand, levels, ground);
        for (int y = 0; y < kHeight; ++y)
            for (int x = 0; x < kWidth; ++x) {
                std::uint32_t expected = ground ? pixel(*ground) : 0;
                for (const StepLevel& level : levels)
                    if (y >= level.tops[static_cast<std::size_t>(x)]) expected = pixel(level.fill);
                if (y < kBand.y || y >= kBand.bottom()) expected = 0;
                ASSERT_EQ(image.at(x, y), expected) << "at " << x << ", " << y;
            }
    }
}

TEST(Utilisation, OfGPipeIsThatOfItsClosedForm) {
    // m of m + p - 1 slots of each rank are busy: the whole step, as one column.
    const Document document = document_of(plan("gpipe", 4, 8));
    const auto colouring = colour(*document, {});
    const auto shares = utilisation(*document, *colouring, TimeAxis(document->range, 1));
    ASSERT_EQ(shares.size(), 1);
    EXPECT_NEAR(shares[0], 8.0 / 11, 1e-6);
}

}  // namespace
}  // namespace debubble::gui
