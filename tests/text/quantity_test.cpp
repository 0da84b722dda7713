#include "text/quantity.h"

#include <gtest/gtest.h>

namespace debubble::models {
namespace {

TEST(Quantity, KeepsDecimalAndBinaryUnitsApart) {
    EXPECT_EQ(text::parse_bytes("80 GB").value, Bytes{80'000'000'000});
    EXPECT_EQ(text::parse_bytes("80 GiB").value, Bytes{85'899'345'920});
    EXPECT_EQ(text::parse_bytes("0 B").value, Bytes{});
    EXPECT_EQ(text::parse_rate("900 GB/s").value->value, 900e9);
    EXPECT_EQ(text::parse_rate("200 Gb/s").value->value, 25e9);
    EXPECT_EQ(text::parse_duration("2.8 us").value, Duration{2800});
    EXPECT_EQ(text::parse_flop_rate("312 TFLOP/s").value, 312e12);
}

TEST(Quantity, SaysWhatIsWrong) {
    EXPECT_EQ(text::parse_bytes("80").mistake, "'80' has no unit; write it as '80 GiB'");
    EXPECT_EQ(text::parse_bytes("80 Gb").mistake, "unknown unit 'Gb'; did you mean 'GB'?");
    EXPECT_EQ(text::parse_bytes("-1 GB").mistake, "'-1 GB' is negative");
    EXPECT_EQ(text::parse_bytes("9e30 GB").mistake, "'9e30 GB' is more than 1e18 bytes");
    EXPECT_EQ(text::parse_duration("1e400 s").mistake,
              "'1e400 s' is not a number with a unit such as '3 us'");
    for (const char* text : {"", "GB", "nan GB", "inf GB", "1 GB GB", "0x10 GB", "1,5 GB"})
        EXPECT_FALSE(text::parse_bytes(text).value) << text;
}

TEST(Quantity, SpansAndCountsAreLong) {
    EXPECT_EQ(text::parse_span("4 h").value, 14400);
    EXPECT_EQ(text::parse_span("1.5 d").value, 129600);
    EXPECT_EQ(text::parse_span("12000 d").mistake, "'12000 d' is more than 1e9 seconds");
    EXPECT_EQ(text::parse_span("4").mistake, "'4' has no unit; write it as '4 h'");
    EXPECT_EQ(text::parse_count("15T").value, 15'000'000'000'000);
    EXPECT_EQ(text::parse_count("15.6 T").value, 15'600'000'000'000);
    EXPECT_EQ(text::parse_count("300B").value, 300'000'000'000);
    EXPECT_EQ(text::parse_count("1e9").value, 1'000'000'000);
    EXPECT_EQ(text::parse_count("12").value, 12);
    EXPECT_EQ(text::parse_count("0").mistake, "'0' is less than 1");
    EXPECT_EQ(text::parse_count("1.5").mistake, "'1.5' is not a whole number");
    EXPECT_EQ(text::parse_count("2e9 B").mistake, "'2e9 B' is more than 1e18");
    EXPECT_EQ(text::parse_count("15G").mistake, "unknown unit 'G'; known: K, M, B, T");
}

TEST(Quantity, WholeNumbersAreWholeAndInRange) {
    EXPECT_EQ(text::parse_whole("-12"), -12);
    for (const char* text : {"", "1.0", "1e3", " 1", "1 ", "+1", "0x1", "9223372036854775808"})
        EXPECT_FALSE(text::parse_whole(text)) << text;
}

TEST(Quantity, WholeValuesMayHaveAnExponent) {
    EXPECT_EQ(text::parse_whole_value("9223372036854775807"), 9223372036854775807);
    EXPECT_EQ(text::parse_whole_value("1e9"), 1000000000);
    EXPECT_EQ(text::parse_whole_value("6.4e1"), 64);
    EXPECT_EQ(text::parse_whole_value("-2.0"), -2);
    EXPECT_EQ(text::parse_whole_value("9007199254740992.0"), std::int64_t{1} << 53);
    for (const char* text : {"", "1e-1", "64.5", "1e16", "1e400", "nan", "inf", "1e", "1e9 ", "x"})
        EXPECT_FALSE(text::parse_whole_value(text)) << text;
}

}  // namespace
}  // namespace debubble::models
