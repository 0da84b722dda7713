#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/ids.h"

namespace debubble {
namespace {

enum class Colour : std::uint8_t { Red, Green, Blue };
enum class Shape : std::uint8_t { Circle, Square };

template <class Table, class Key>
concept CanBeIndexedBy = requires(Table& table, Key key) {
    table[key];
};

static_assert(CanBeIndexedBy<IndexedBy<Rank, int>, Rank>);
static_assert(!CanBeIndexedBy<IndexedBy<Rank, int>, Stage>, "a stage is not a rank");
static_assert(!CanBeIndexedBy<ArrayBy<Colour, int, 3>, Rank>);
static_assert(!CanBeIndexedBy<ArrayBy<Colour, int, 3>, Shape>, "a shape is not a colour");
static_assert(CanBeIndexedBy<const IndexedBy<Stage, bool>, Stage>);

constexpr ArrayBy<Colour, int, 3> kValues{4, 5, 6};
static_assert(kValues[Colour::Blue] == 6, "an array is a constant expression");

template <Colour colour>
concept HasValue = requires {
    typename std::integral_constant<int, kValues[colour]>;
};
static_assert(HasValue<Colour::Red>);
static_assert(!HasValue<static_cast<Colour>(3)>, "a key beyond the table is an error");

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

TEST(ArrayBy, KeysAndNumbersReachTheSameElements) {
    ArrayBy<Colour, int, 3> table{1, 2, 3};
    for (std::size_t i = 0; i < table.size(); ++i)
        EXPECT_EQ(&table[static_cast<Colour>(i)], &table[i]);
    EXPECT_EQ(&std::as_const(table)[Colour::Green], &table[Colour::Green]);
    EXPECT_EQ(table, (ArrayBy<Colour, int, 3>{1, 2, 3}));
}

TEST(ArrayBy, ValuesOfAnEnumerationAreItsKeys) {
    ArrayBy<Colour, int, 3> sums{};
    sums[Colour::Green] = 2;
    for (const int& value : sums) EXPECT_EQ(value, &value == &sums[Colour::Green] ? 2 : 0);
    EXPECT_EQ(kValues[Colour::Red], 4);
}

}  // namespace
}  // namespace debubble
