#include "sim/cost/passes/pair_time.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

/// Parts of pairs on the host's lane and two streams, against sums done by hand.
namespace debubble::sim {
namespace {

IssuedPart kernel(bool forward, double seconds, double host = 0) {
    return {PairStep::Experts, forward, false, 0, seconds, host};
}
IssuedPart exchange(bool forward, double seconds, double host = 0) {
    return {PairStep::Dispatch, forward, true, 0, seconds, host};
}

/// During the all-to-all, which takes 1.5 s, the kernels do 1.2 of their 3 s.
TEST(PairLanes, SlowEachOtherWhileBothRun) {
    PairLanes lanes;
    lanes.contention.slowed = 0.2;
    lanes.contention.stretch = 1.5;
    const PlayedPair pair = play({kernel(true, 3), exchange(false, 1)}, lanes);
    ASSERT_EQ(pair.parts.size(), 2U);
    EXPECT_DOUBLE_EQ(pair.parts[0].end, 1.5 + 1.8);
    EXPECT_DOUBLE_EQ(pair.parts[1].end, 1.5);
    EXPECT_DOUBLE_EQ(pair.exposed, 0);
}

/// One of the all-to-all's 3 s is left when the kernels of 2.4 s end, after 3 s.
TEST(PairLanes, GoOnAtTheirOwnRateWhenTheOtherEnds) {
    PairLanes lanes;
    lanes.contention.slowed = 0.2;
    lanes.contention.stretch = 1.5;
    const PlayedPair pair = play({kernel(true, 2.4), exchange(false, 3)}, lanes);
    EXPECT_DOUBLE_EQ(pair.seconds, 3 + 1);
    EXPECT_DOUBLE_EQ(pair.exposed, 1);
}

/// The last rank starts the first all-to-all half a second later, and to the second while the first
/// still runs.
TEST(PairLanes, WaitForTheLastRankWhereTheStreamIsFree) {
    PairLanes lanes;
    lanes.waits = {0.5, 1.5};
    const PlayedPair pair = play({kernel(true, 1), exchange(true, 1), exchange(false, 2)}, lanes);
    ASSERT_EQ(pair.parts.size(), 3U);
    EXPECT_DOUBLE_EQ(pair.parts[1].begin, 1);
    EXPECT_DOUBLE_EQ(pair.parts[1].end, 1 + 0.5 + 1);
    EXPECT_DOUBLE_EQ(pair.parts[2].end, 2.5 + 2);
    EXPECT_DOUBLE_EQ(pair.exposed, 3.5);
}

/// However long an all-to-all is, the last rank is late because of its computes.
TEST(PairLanes, WaitForNoMoreThanAShareOfTheKernelsBefore) {
    PairLanes lanes;
    lanes.waits = {0.5, 0.25};
    const PlayedPair pair = play({kernel(true, 1), exchange(true, 100)}, lanes);
    ASSERT_EQ(pair.parts.size(), 2U);
    EXPECT_DOUBLE_EQ(pair.parts[1].end, 1 + 0.25 + 100);
}

/// The device ends with the last kernel that the host issues, and waits for it.
TEST(PairLanes, WaitForTheHost) {
    PairLanes lanes;
    lanes.host = 2;
    const std::vector<IssuedPart> issued{kernel(true, 1, 2), kernel(false, 1, 3)};
    const PlayedPair pair = play(issued, lanes);
    EXPECT_DOUBLE_EQ(pair.seconds, 2 * (2 + 3));
    EXPECT_DOUBLE_EQ(pair.idle, 2 * (2 + 3) - 2);
}

/// The host is ahead by the length of the kernels, unless it waits for them to count rows.
TEST(PairLanes, IssueAnExchangeAfterItsRowsAreCounted) {
    const std::vector<IssuedPart> issued{kernel(true, 1, 0.25), exchange(true, 1, 0.5)};
    PairLanes lanes;
    EXPECT_DOUBLE_EQ(play(issued, lanes).seconds, 1 + 1);
    lanes.awaits_counts = true;
    EXPECT_DOUBLE_EQ(play(issued, lanes).seconds, 1 + 0.5 + 1);
    EXPECT_DOUBLE_EQ(play({kernel(false, 1, 0.25), exchange(false, 1, 0.5)}, lanes).seconds, 1 + 1)
        << "a backward's rows are known";
}

/// The host issues the all-to-all after half a second, and what follows it for 1.5 s more, before
/// it reaches the kernels: the all-to-all is exposed for that long, and no stream waits.
TEST(PairLanes, ExchangeWhileTheHostGoesOnWithThePart) {
    IssuedPart combine = exchange(true, 2, 2);
    combine.after = 1.5;
    const PlayedPair pair = play({combine, kernel(false, 1, 0.25)}, {});
    ASSERT_EQ(pair.parts.size(), 2U);
    EXPECT_DOUBLE_EQ(pair.parts[0].begin, 0.5);
    EXPECT_DOUBLE_EQ(pair.parts[0].end, 2.5);
    EXPECT_DOUBLE_EQ(pair.parts[1].begin, 2);
    EXPECT_DOUBLE_EQ(pair.seconds, 3);
    EXPECT_DOUBLE_EQ(pair.idle, 0.5);
    EXPECT_DOUBLE_EQ(pair.exposed, 1.5);
    combine.after = 0;
    EXPECT_DOUBLE_EQ(play({combine, kernel(false, 1, 0.25)}, {}).seconds, 4);
}

/// A dense layer has no rows to count.
TEST(PairLanes, IssueWhatFollowsALayerWithoutExpertsAtOnce) {
    PairLanes lanes;
    lanes.awaits_counts = true;
    const PlayedPair pair =
        play({kernel(true, 1, 0.25), exchange(true, 0), kernel(true, 1, 1)}, lanes);
    EXPECT_DOUBLE_EQ(pair.seconds, 1 + 1);
}

/// A part of a pass begins when the one before has ended, but a delayed weight gradient does not
/// hold up its pass.
TEST(PairLanes, RunEachPassInItsOrder) {
    IssuedPart weights = kernel(false, 5);
    weights.alone = true;
    const PlayedPair pair =
        play({exchange(false, 1), kernel(false, 1), weights, exchange(false, 1)}, {});
    EXPECT_DOUBLE_EQ(pair.parts[1].begin, 1);
    EXPECT_DOUBLE_EQ(pair.parts[2].begin, 2);
    EXPECT_DOUBLE_EQ(pair.parts[3].begin, 2);
    EXPECT_DOUBLE_EQ(pair.seconds, 7);
}

/// A part without anything to do holds nothing up.
TEST(PairLanes, PassOverPartsThatTakeNoTime) {
    const PlayedPair pair =
        play({exchange(false, 4), kernel(true, 1), kernel(true, 0), kernel(true, 1)}, {});
    EXPECT_DOUBLE_EQ(pair.parts.back().end, 2);
}

std::vector<IssuedPart> drawn(std::mt19937& random) {
    std::uniform_real_distribution<double> length(0, 1);
    std::vector<IssuedPart> issued;
    for (int i = 0; i < 24; ++i) {
        const bool forward = random() % 2 == 0;
        issued.push_back(random() % 2 == 0 ? kernel(forward, length(random), length(random))
                                           : exchange(forward, length(random), length(random)));
    }
    return issued;
}

/// No lane is shorter than its own work, and what is neither hidden nor idle is kernels' time.
TEST(PairLanes, LastAtLeastAsLongAsEachOfThem) {
    std::mt19937 random(20261126);
    for (int draw = 0; draw < 200; ++draw) {
        const std::vector<IssuedPart> issued = drawn(random);
        PairLanes lanes;
        lanes.contention.slowed = draw % 3 == 0 ? 0.25 : 0;
        lanes.contention.stretch = draw % 2 == 0 ? 1.3 : 1;
        if (draw % 7 == 0) lanes.waits = {0.4, 0.3};
        lanes.host = 1 + draw % 4;
        lanes.awaits_counts = draw % 5 == 0;
        double kernels = 0, exchanges = 0, host = 0;
        for (const IssuedPart& part : issued) {
            (part.exchange ? exchanges : kernels) += part.seconds;
            host += lanes.host * part.host;
        }
        const PlayedPair pair = play(issued, lanes);
        EXPECT_GE(pair.seconds, std::max({kernels, exchanges, host}) - 1e-9);
        const double computing = pair.seconds - pair.exposed - pair.idle;
        EXPECT_GE(computing, kernels - 1e-9);
        EXPECT_LE(computing, kernels / (1 - lanes.contention.slowed) + 1e-9);
        EXPECT_LE(pair.exposed, exchanges + lanes.waits.of_kernels * kernels + 1e-9);
        EXPECT_LE(pair.exposed, exchanges * (1 + lanes.waits.of_exchange) + 1e-9);
        PairLanes slower = lanes;
        slower.host *= 1.5;
        EXPECT_GE(play(issued, slower).seconds, host * 1.5 - 1e-9);
    }
}

/// With nothing to issue and nothing in each other's way, no all-to-all is exposed for longer than
/// all of it.
TEST(PairLanes, HideWhatTheOtherPassComputes) {
    std::mt19937 random(7);
    for (int draw = 0; draw < 50; ++draw) {
        std::vector<IssuedPart> issued = drawn(random);
        for (IssuedPart& part : issued) part.host = 0;
        const PlayedPair pair = play(issued, {});
        EXPECT_NEAR(pair.idle, 0, 1e-9);
        double sum = 0;
        for (const IssuedPart& part : issued) sum += part.seconds;
        EXPECT_LE(pair.seconds, sum + 1e-9);
    }
}

}  // namespace
}  // namespace debubble::sim
