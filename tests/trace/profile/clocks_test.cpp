#include "trace/profile/passes/clocks.h"

#include <cmath>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace debubble::profile {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kEpoch = 1'760'000'000 * kSecond;  // clocks show nanoseconds since 1970

/// A clock that is `ahead` ns at kEpoch and gains `drift` of every second.
struct Clock {
    std::int64_t ahead = 0;
    double drift = 0;
    std::int64_t shows(std::int64_t at) const {
        return at + ahead + std::llround(drift * static_cast<double>(at - kEpoch));
    }
};

/// Messages between neighbours every `apart` ns, whose ends are seen with up to 2 us of noise.
std::vector<MatchedEnds> messages(const std::vector<Clock>& clocks, int count, std::int64_t apart) {
    std::vector<MatchedEnds> out;
    for (int k = 0; k < count; ++k)
        for (std::size_t r = 0; r + 1 < clocks.size(); ++r) {
            const std::int64_t at = kEpoch + k * apart;
            const std::int64_t noise = (k * 7919 + static_cast<int>(r) * 104729) % 4001 - 2000;
            const std::size_t from = k % 2 == 0 ? r : r + 1;
            const std::size_t to = k % 2 == 0 ? r + 1 : r;
            out.push_back({from, to, clocks[from].shows(at - 100'000), clocks[from].shows(at),
                           clocks[to].shows(at - 50'000), clocks[to].shows(at + noise)});
        }
    return out;
}

TEST(ClocksOfProfiles, ThatDriftAreMovedByAStraightLine) {
    const std::vector<Clock> clocks{{0, 0}, {350'000, 2e-5}, {-1'200'000, -1.5e-5}};
    const auto matched = messages(clocks, 400, kSecond / 100);  // over 4 s
    const Clocks found = align_by_ends(clocks.size(), matched);
    EXPECT_FALSE(found.why_not);
    ASSERT_TRUE(found.drift);
    ASSERT_EQ(found.drift->size(), 3U);
    EXPECT_EQ(found.drift->at(0), 0);
    for (std::size_t r = 1; r < clocks.size(); ++r)
        EXPECT_NEAR(found.drift->at(r), clocks[r].drift, 1e-6) << r;
    EXPECT_LT(found.error.count(), 3'000);
    for (const std::int64_t at : {kEpoch, kEpoch + 2 * kSecond, kEpoch + 4 * kSecond})
        for (std::size_t r = 0; r < clocks.size(); ++r)
            EXPECT_LT(std::abs(found.moved(r, clocks[r].shows(at)) - at), 3'000) << r;
}

TEST(ClocksOfProfiles, ThatDoNotDriftAreMovedByAConstant) {
    const std::vector<Clock> clocks{{0, 0}, {350'000, 0}};
    const Clocks found = align_by_ends(2, messages(clocks, 400, kSecond / 100));
    EXPECT_FALSE(found.drift);
    EXPECT_LT(std::abs(found.ahead[1] - 350'000), 200);
    EXPECT_EQ(found.moved(1, kEpoch + 350'000), kEpoch + 350'000 - found.ahead[1]);
}

TEST(ClocksOfProfiles, ShowNoDriftWithinASecondOrInAFewMessages) {
    const std::vector<Clock> clocks{{0, 0}, {0, 1e-4}};
    EXPECT_FALSE(align_by_ends(2, messages(clocks, 400, kSecond / 1000)).drift);
    EXPECT_FALSE(align_by_ends(2, messages(clocks, 10, kSecond)).drift);
    EXPECT_TRUE(align_by_ends(2, messages(clocks, 40, kSecond / 10)).drift);
}

TEST(ClocksOfProfiles, ThatJumpCannotBeAligned) {
    std::vector<MatchedEnds> matched = messages({{0, 0}, {0, 0}}, 100, kSecond / 10);
    for (std::size_t i = 0; i < matched.size(); i += 3) matched[i].received += 20'000'000;
    EXPECT_THAT(align_by_ends(2, matched).why_not.value_or(""),
                testing::HasSubstr("by whatever constant and drift the clocks are moved"));
}

}  // namespace
}  // namespace debubble::profile
