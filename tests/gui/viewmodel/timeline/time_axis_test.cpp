#include "trace/picture/document/time_axis.h"

#include <random>

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {
namespace {

const TimeRange kSecond{at(0), at(1'000'000'000)};

TEST(TimeAxis, ShowsTheWholeAtFirstAndAfterFit) {
    TimeAxis axis(kSecond, 1000);
    EXPECT_EQ(axis.x(at(0)), 0);
    EXPECT_EQ(axis.x(at(1'000'000'000)), 1000);
    axis.zoom(7, 300);
    EXPECT_NE(axis.shown(), kSecond);
    axis.fit();
    EXPECT_EQ(axis.shown(), kSecond);
}

TEST(TimeAxis, ReadsBackThePixelOfAnyInstant) {
    TimeAxis axis(kSecond, 1920);
    axis.zoom(123.4, 777);
    for (int x = 0; x <= 1920; ++x) EXPECT_NEAR(axis.x(axis.at(x)), x, 1);
    const Instant some = axis.shown().begin + Duration{12'345};
    EXPECT_EQ(axis.at(axis.x(some)), some);
}

TEST(TimeAxis, KeepsWhatIsUnderThePointerWhileItZooms) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> where(0, 1920);
    std::uniform_real_distribution<double> factor(1.01, 1.5);
    TimeAxis axis(kSecond, 1920);
    for (int i = 0; i < 30; ++i) {
        const double x = where(random);
        const Instant pointed = axis.at(x);
        axis.zoom(factor(random), x);
        EXPECT_NEAR(axis.x(pointed), x, 1.01) << i;
    }
}

TEST(TimeAxis, NeverLeavesTheWholeNorMakesANanosecondWiderThanAPixel) {
    std::mt19937 random(2);
    std::uniform_real_distribution<double> x(0, 800);
    std::uniform_real_distribution<double> log_factor(-3, 3);
    TimeAxis axis(kSecond, 800);
    for (int i = 0; i < 2000; ++i) {
        axis.zoom(std::exp(log_factor(random)), x(random));
        axis.pan(x(random) * log_factor(random));
        EXPECT_GE(axis.shown().begin, kSecond.begin);
        EXPECT_LE(axis.shown().end, kSecond.end);
        EXPECT_GE(axis.ns_per_pixel(), 1);
    }
}

TEST(TimeAxis, PansThereAndBack) {
    TimeAxis axis(kSecond, 1000);
    axis.zoom(10, 500);
    const TimeRange before = axis.shown();
    axis.pan(130);
    EXPECT_NEAR(axis.x(before.begin), -130, 1e-6);
    axis.pan(-130);
    EXPECT_EQ(axis.shown(), before);
}

TEST(TimeAxis, CentresARangeThatIsTooShortToShowAlone) {
    TimeAxis axis(kSecond, 1000);
    axis.show({at(500'000'000), at(500'000'010)});
    EXPECT_EQ(axis.shown().length(), Duration{1000});
    EXPECT_NEAR(axis.x(at(500'000'005)), 500, 1);
}

TEST(TimeAxis, StaysFittedWhenTheStepBecomesLongerAndElseKeepsItsView) {
    const TimeRange longer{at(0), at(2'000'000'000)};
    TimeAxis fitted(kSecond, 1000);
    fitted.set_whole(longer);
    EXPECT_EQ(fitted.shown(), longer);
    TimeAxis zoomed(kSecond, 1000);
    zoomed.zoom(4, 0);
    const TimeRange view = zoomed.shown();
    zoomed.set_whole(longer);
    EXPECT_EQ(zoomed.shown(), view);
}

TEST(TimeAxis, HasOneNanosecondOfAnEmptyTrace) {
    const TimeAxis axis({at(5), at(5)}, 100);
    EXPECT_EQ(axis.whole().length(), Duration{1});
}

TEST(TimeAxis, ReadsAnotherClockByAShift) {
    const TimeAxis axis(kSecond, 1000);
    EXPECT_EQ(axis.shifted(Duration{400}).x(at(600)), axis.x(at(1000)));
    EXPECT_EQ(axis.scaled(2).x(at(1000)), 2 * axis.x(at(1000)));
}

}  // namespace
}  // namespace debubble::gui
