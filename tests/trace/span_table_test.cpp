#include "trace/span_table.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace debubble {
namespace {

using Key = KeyNumbers::Key;

TEST(KeyNumbers, AreThoseOfTheFirstTimeAKeyIsSeen) {
    KeyNumbers numbers;
    EXPECT_EQ(numbers.number({1, 2}), std::nullopt);
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> expected;
    std::mt19937_64 random(7);
    for (int i = 0; i < 5000; ++i) {
        const Key key{random() % 40, (random() % 50) << 32U};
        const auto next = static_cast<std::uint32_t>(expected.size());
        const auto [entry, is_new] = expected.try_emplace({key.high, key.low}, next);
        EXPECT_EQ(numbers.number(key).has_value(), !is_new);
        EXPECT_EQ(numbers.number_or_add(key), entry->second);
    }
    ASSERT_EQ(numbers.keys().size(), expected.size());
    for (const auto& [key, number] : expected) {
        EXPECT_EQ(numbers.keys()[number], (Key{key.first, key.second}));
        EXPECT_EQ(numbers.number({key.first, key.second}), number);
    }
    EXPECT_EQ(numbers.number({41, 0}), std::nullopt);
}

/// Spans of some keys; those of a trace in order of time, or in any.
void compare_with_all_spans(bool sorted) {
    std::mt19937_64 random(sorted ? 1 : 2);
    Trace trace;
    std::vector<Key> keys;
    for (int i = 0; i < 300; ++i) {
        const auto at = Instant(Duration(sorted ? i / 3 : static_cast<int>(random() % 100)));
        trace.spans.push_back({Rank{0}, 0, Lane::Compute, GradNorm{}, at, at, {}, {}});
        keys.push_back({random() % 4, random() % 3});
    }
    KeyNumbers numbers;
    SpanTable table;
    for (std::uint32_t i = 0; i < keys.size(); ++i) table.add(numbers.number_or_add(keys[i]), i);
    numbers.number_or_add({4, 0});
    table.close(trace, numbers.keys().size());
    ASSERT_EQ(table.size(), keys.size());
    EXPECT_EQ(table.groups(), 13U);
    std::vector<bool> met(keys.size());
    for (std::uint32_t i = 0; i < keys.size(); ++i)
        met[table.index_of(trace, *numbers.number(keys[i]), i)] = true;
    EXPECT_EQ(std::ranges::count(met, true), std::ssize(met));
    for (const Key key : {Key{0, 0}, Key{3, 2}, Key{4, 0}})
        for (int at = -1; at <= 100; ++at) {
            std::optional<std::size_t> last;
            for (std::size_t i = 0; i < keys.size(); ++i) {
                const Instant begin = trace.spans[i].begin;
                if (keys[i] == key && begin <= Instant(Duration(at)) &&
                    (!last || begin >= trace.spans[*last].begin))
                    last = i;
            }
            EXPECT_EQ(table.last_before(trace, *numbers.number(key), Instant(Duration(at))), last)
                << at;
        }
}

TEST(SpanTable, HasTheLastSpanOfAKeyBeforeAnInstant) {
    compare_with_all_spans(true);
    compare_with_all_spans(false);
}

}  // namespace
}  // namespace debubble
