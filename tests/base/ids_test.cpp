#include <concepts>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/ids.h"

namespace debubble {
namespace {

enum class Colour : std::uint8_t { Red, Green, Blue };

template <class Table, class Key>
concept CanBeIndexedBy = requires(Table& table, Key key) {
    table[key];
};

static_assert(CanBeIndexedBy<IndexedBy<Rank, int>, Rank>);
static_assert(!CanBeIndexedBy<IndexedBy<Rank, int>, Stage>, "a stage is not a rank");
static_assert(!CanBeIndexedBy<ArrayBy<Colour, int, 3>, Rank>);
static_assert(CanBeIndexedBy<const IndexedBy<Stage, bool>, Stage>);

constexpr ArrayBy<Colour, int, 3> kValues{4, 5, 6};
static_assert(kValues[Colour::Blue] == 6, "an array is a constant expression");

TEST(IndexedBy, AnElementIsReachedByItsIdAndByItsPosition) {
    IndexedBy<Stage, int> table{7, 8, 9};
    table[Stage{1}] += 100;
    EXPECT_EQ(table[std::size_t{1}], 108);
    EXPECT_EQ(std::as_const(table)[Stage{2}], 9);
    EXPECT_EQ(table.size(), 3U);
}

TEST(IndexedBy, SlicesOfAMicroBatchShareItsElement) {
    IndexedBy<MicroBatch, int> table(2);
    table[MicroBatch{1, 0}] = 3;
    EXPECT_EQ((table[MicroBatch{1, 5}]), 3);
    EXPECT_EQ((table[MicroBatch{0, {}}]), 0);
}

TEST(IndexedBy, BitsOfAVectorOfBoolAreSet) {
    IndexedBy<Rank, bool> table(3);
    table[Rank{2}] = true;
    EXPECT_TRUE(std::as_const(table)[Rank{2}]);
    EXPECT_FALSE(table[Rank{0}]);
}

TEST(IndexedBy, IsMadeOfAVectorAndComparedLikeOne) {
    const IndexedBy<Rank, int> table = std::vector<int>{1, 2};
    EXPECT_EQ(table, (IndexedBy<Rank, int>{1, 2}));
    EXPECT_NE(table, (IndexedBy<Rank, int>{1, 3}));
}

TEST(ArrayBy, ValuesOfAnEnumerationAreItsKeys) {
    ArrayBy<Colour, int, 3> sums{};
    sums[Colour::Green] = 2;
    for (const int& value : sums) EXPECT_EQ(value, &value == &sums[Colour::Green] ? 2 : 0);
    EXPECT_EQ(kValues[Colour::Red], 4);
}

}  // namespace
}  // namespace debubble
