#include "text/wording.h"

#include <gmock/gmock.h>

/// Figures as people read them.
namespace debubble::sim {
namespace {

using testing::ElementsAre;

TEST(Wording, WritesFiguresAsPeopleReadThem) {
    EXPECT_EQ(text::time_text(1.5), "1.500 s");
    EXPECT_EQ(text::time_text(0.0123456), "12.346 ms");
    EXPECT_EQ(text::time_text(2e-6), "2.000 us");
    EXPECT_EQ(text::count_text(1'557'611'200), "1.56 B");
    EXPECT_EQ(text::count_text(999), "999");
    EXPECT_EQ(text::count_text(12'345), "12,345");
    EXPECT_EQ(text::rate_text(1'234'567.4), "1,234,567");
    EXPECT_EQ(text::rate_text(1.25), "1.25");
    EXPECT_EQ(text::rate_text(-123'456), "-123,456");
    EXPECT_EQ(text::stages_text({Stage{0}, Stage{1}, Stage{2}, Stage{7}}), "0-2,7");
}

TEST(Wording, WritesTimesAndSizesInTheirOwnUnitWithFourDigits) {
    EXPECT_EQ(text::time_text(Duration{0}), "0 ns");
    EXPECT_EQ(text::time_text(Duration{999}), "999 ns");
    EXPECT_EQ(text::time_text(Duration{-1500}), "-1.5 \u00b5s");
    EXPECT_EQ(text::time_text(Duration{12'345'678}), "12.35 ms");
    EXPECT_EQ(text::time_text(Duration{61'000'000'000}), "61 s");
    EXPECT_EQ(text::size_text(Bytes{1 << 20}), "1 MiB");
    EXPECT_EQ(text::size_text(Bytes{1023 << 20}), "1023 MiB");
    EXPECT_EQ(text::size_text(Bytes{3LL << 29}), "1.50 GiB");
}

TEST(Wording, WritesTheTicksOfAnAxisInOneUnitAndApart) {
    const text::TickFormat fine(Duration{12'000'000}, Duration{500'000});
    EXPECT_EQ(fine.text(Duration{}), "0.0 ms");
    EXPECT_EQ(fine.text(Duration{500'000}), "0.5 ms");
    EXPECT_EQ(fine.text(Duration{12'000'000}), "12.0 ms");
    const text::TickFormat coarse(Duration{8'000'000'000}, Duration{1'000'000'000});
    EXPECT_EQ(coarse.text(Duration{2'000'000'000}), "2 s");
}

TEST(Wording, BreaksLinesAtSpacesAndNeverInsideALetter) {
    EXPECT_THAT(text::wrapped("one two three", 8, 2), ElementsAre("one two", "  three"));
    EXPECT_THAT(text::wrapped("abcdefghij", 4, 0), ElementsAre("abcd", "efgh", "ij"));
    EXPECT_EQ(text::shortened("\u00e9\u00e9\u00e9\u00e9", 6), "\u00e9...");
}

}  // namespace
}  // namespace debubble::sim
