#include <string>

#include <gtest/gtest.h>

#include "base/shared_map.h"

namespace debubble {
namespace {

using Counts = SharedMap<std::string, int>;

TEST(ASharedMap, HasNoEntriesAtFirst) {
    const Counts none;
    EXPECT_EQ(none.begin(), none.end());
    EXPECT_FALSE(none.contains("a"));
    EXPECT_EQ(none, Counts{});
}

TEST(ASharedMap, SharesItsEntriesWithItsCopies) {
    const Counts one({{"a", 1}});
    const Counts copy = one;  // NOLINT: the copy is what is tested
    EXPECT_EQ(&copy.at("a"), &one.at("a"));
}

TEST(ASharedMap, LeavesCopiesAsTheyWereWhenItChanges) {
    Counts changed({{"a", 1}});
    const Counts before = changed;
    changed["a"] = 2;
    changed["b"] = 3;
    EXPECT_EQ(before, Counts({{"a", 1}}));
    EXPECT_EQ(changed, Counts({{"a", 2}, {"b", 3}}));
}

TEST(ASharedMap, EqualsOneWithTheSameEntries) {
    Counts built;
    EXPECT_NE(built, Counts({{"a", 1}}));
    built["a"] = 1;
    EXPECT_EQ(built, Counts({{"a", 1}}));
}

}  // namespace
}  // namespace debubble
