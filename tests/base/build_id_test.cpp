#include "base/build_id.h"

#include <algorithm>
#include <cctype>

#include <gtest/gtest.h>

namespace debubble {
namespace {

TEST(TheBuildId, IsDigitsAndTheSameEveryTime) {
    const BuildId id = build_id();
    EXPECT_EQ(id, build_id());
    const auto end = std::ranges::find(id, '\0');
    EXPECT_TRUE(
        std::all_of(id.begin(), end, [](unsigned char c) { return std::isxdigit(c) != 0; }));
    EXPECT_GE(end - id.begin(), 16);
    EXPECT_EQ(short_form(id), std::string(id.begin(), 12));
}

TEST(TheBuildId, OfAStrangerIsShownAsQuestionMarksWhereItIsNone) {
    EXPECT_EQ(short_form({"01\x1b[2Jef"}), "01??2?ef????");
}

}  // namespace
}  // namespace debubble
