#include <limits>

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/units.h"

namespace debubble {
namespace {

TEST(Units, SecondsBecomeTheNearestNanosecond) {
    EXPECT_EQ(from_seconds(1.5e-9), Duration{2});
    EXPECT_EQ(from_seconds(-2), Duration{-2'000'000'000});
    EXPECT_EQ(from_seconds(kLongestSeconds), std::chrono::seconds(1'000'000));
}

TEST(Units, TimesThatNoStepTakesAreRefusedAndNeverWrap) {
    const double not_a_number = std::numeric_limits<double>::quiet_NaN();
    const double endless = std::numeric_limits<double>::infinity();
    for (const double s : {1.1e6, 1e10, 1e300, -1e300, endless, not_a_number})
        EXPECT_THROW(from_seconds(s), InputError) << s;
    EXPECT_THROW((Bytes{1'000'000'000'000} / BytesPerSecond{1}), InputError);
    EXPECT_THROW((Bytes{1} / BytesPerSecond{0}), InputError);
    EXPECT_EQ((Bytes{10} / BytesPerSecond{1}), std::chrono::seconds(10));
    EXPECT_THROW(checked(std::chrono::seconds(1'000'001)), InputError);
    EXPECT_EQ(checked(Duration{7}), Duration{7});
}

}  // namespace
}  // namespace debubble
