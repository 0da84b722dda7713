#include "text/wording.h"

#include <gmock/gmock.h>

namespace debubble::text {
namespace {

TEST(Wording, OfARateOfFlopsHasAUnitThatShowsDigits) {
    EXPECT_EQ(flop_rate_text(148.62e12), "148.6 TFLOP/s");
    EXPECT_EQ(flop_rate_text(1e12), "1.0 TFLOP/s");
    EXPECT_EQ(flop_rate_text(39.24e9), "39.2 GFLOP/s");
    EXPECT_EQ(flop_rate_text(7.1e6), "7.1 MFLOP/s");
    EXPECT_EQ(flop_rate_text(1234), "1234 FLOP/s");
    EXPECT_EQ(flop_rate_text(0), "0 FLOP/s");
}

}  // namespace
}  // namespace debubble::text
