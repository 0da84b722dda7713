#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "exec/core/half.h"

namespace debubble::exec {
namespace {

/// Every finite value and its upper neighbour: both are fixed, and what lies between goes to
/// the nearer, a tie to the even bits.
template <class Half, class Narrow>
void check_rounding(std::uint16_t infinity, const Narrow& narrow) {
    for (std::uint16_t bits = 0; bits < infinity; ++bits) {
        const std::uint16_t above = bits + 1;
        const double low = to_float(Half{bits});
        const double high = above == infinity
                                ? 2 * low - to_float(Half{static_cast<std::uint16_t>(bits - 1)})
                                : to_float(Half{above});
        ASSERT_LT(low, high);
        const auto middle = static_cast<float>((low + high) / 2);
        ASSERT_EQ(narrow(static_cast<float>(low)).bits, bits);
        ASSERT_EQ(narrow(static_cast<float>(-low)).bits, bits | 0x8000);
        ASSERT_EQ(narrow(middle).bits, bits % 2 == 0 ? bits : above);
        ASSERT_EQ(narrow(std::nextafter(middle, 0.0f)).bits, bits);
        ASSERT_EQ(narrow(std::nextafter(middle, INFINITY)).bits, above);
    }
    EXPECT_EQ(narrow(INFINITY).bits, infinity);
    EXPECT_EQ(narrow(-INFINITY).bits, infinity | 0x8000);
    EXPECT_TRUE(std::isnan(to_float(narrow(NAN))));
    EXPECT_TRUE(std::isinf(to_float(Half{infinity})));
}

TEST(Float16, RoundsToNearestEvenEverywhere) {
    check_rounding<Float16>(0x7c00, to_float16);
    EXPECT_EQ(to_float(Float16{0x3555}), 0.333251953125f);  // IEEE 754 binary16 of 1/3
    EXPECT_EQ(to_float(Float16{0x0001}), 0x1p-24f);
    EXPECT_EQ(to_float(Float16{0x7bff}), 65504.0f);
}

TEST(BFloat16, RoundsToNearestEvenEverywhere) {
    check_rounding<BFloat16>(0x7f80, to_bfloat16);
    EXPECT_EQ(to_float(BFloat16{0x4049}), 3.140625f);
}

}  // namespace
}  // namespace debubble::exec
