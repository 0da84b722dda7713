#include "base/memo.h"

#include <gtest/gtest.h>

namespace debubble {
namespace {

/// A cache of numbers that count how often each was made.
class Made {
public:
    explicit Made(Memo<int, const int>& memo) : memo_(memo) {}
    /// True if the value had to be made.
    bool asks_for(int key) {
        bool made = false;
        const auto value = memo_.get(key, [&] {
            made = true;
            return std::make_unique<const int>(key);
        });
        EXPECT_EQ(*value, key);
        return made;
    }

private:
    Memo<int, const int>& memo_;
};

TEST(Memo, KeepsTheMostRecentlyUsed) {
    Memo<int, const int> memo(2);
    Made made(memo);
    EXPECT_TRUE(made.asks_for(1));
    EXPECT_TRUE(made.asks_for(2));
    EXPECT_FALSE(made.asks_for(1));
    EXPECT_TRUE(made.asks_for(3));
    EXPECT_FALSE(made.asks_for(1));
    EXPECT_TRUE(made.asks_for(2));
}

TEST(Memo, KeepsNoMoreWeightThanItMay) {
    Memo<int, const int> memo(100, 10, [](int value) { return std::size_t(value); });
    Made made(memo);
    EXPECT_TRUE(made.asks_for(4));
    EXPECT_TRUE(made.asks_for(5));
    EXPECT_FALSE(made.asks_for(4));
    EXPECT_TRUE(made.asks_for(6));  // 5 was used the longest ago, and 4 and 6 are 10
    EXPECT_FALSE(made.asks_for(4));
    EXPECT_TRUE(made.asks_for(5));
    EXPECT_TRUE(made.asks_for(50));  // one that is too heavy stays until the next comes
    EXPECT_FALSE(made.asks_for(50));
    EXPECT_TRUE(made.asks_for(4));
    EXPECT_TRUE(made.asks_for(50));
}

TEST(Memo, OutlivesWhatItDrops) {
    Memo<int, const int> memo(1);
    const auto held = memo.get(1, [] { return std::make_unique<const int>(7); });
    memo.get(2, [] { return std::make_unique<const int>(8); });
    EXPECT_EQ(*held, 7);
}

}  // namespace
}  // namespace debubble
