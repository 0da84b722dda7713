#include "base/packed_rows.h"

#include <map>
#include <random>
#include <vector>

#include <gmock/gmock.h>

namespace debubble {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PackedRows, KeepTheValuesOfAKeyInTheOrderInWhichTheyWereAdded) {
    PackedRows<Stage, int> rows;
    rows.add(Stage{2}, 7);
    rows.add(Stage{0}, 5);
    rows.add(Stage{2}, 3);
    rows.pack(4);
    EXPECT_THAT(rows.of(Stage{0}), ElementsAre(5));
    EXPECT_THAT(rows.of(Stage{1}), IsEmpty());
    EXPECT_THAT(rows.of(Stage{2}), ElementsAre(7, 3));
    EXPECT_THAT(rows.of(Stage{3}), IsEmpty());
}

TEST(PackedRows, HaveNoValuesWhereNoneWereAdded) {
    PackedRows<std::int32_t, int> rows;
    rows.pack(1);
    EXPECT_THAT(rows.of(0), IsEmpty());
}

TEST(PackedRows, AreThoseOfAMapOfVectors) {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        const auto keys = static_cast<std::int32_t>(1 + random() % 20);
        PackedRows<std::int32_t, unsigned> rows;
        std::map<std::int32_t, std::vector<unsigned>> expected;
        for (std::size_t i = random() % 100; i > 0; --i) {
            const auto key = static_cast<std::int32_t>(random() % static_cast<unsigned>(keys));
            const auto value = static_cast<unsigned>(random());
            rows.add(key, value);
            expected[key].push_back(value);
        }
        rows.pack(static_cast<std::size_t>(keys));
        for (std::int32_t key = 0; key < keys; ++key)
            EXPECT_THAT(rows.of(key), testing::ElementsAreArray(expected[key])) << key;
    }
}

}  // namespace
}  // namespace debubble
