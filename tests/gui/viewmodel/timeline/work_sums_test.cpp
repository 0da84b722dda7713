#include "trace/picture/document/work_sums.h"

#include <numeric>

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {
namespace {

/// Bars of known work, with exposed intervals between some of them.
struct WorkLane {
    WorkLane(std::mt19937& random, std::size_t count) {
        for (const Bar& bar : random_bars(random, count)) {
            if (random() % 8 == 0) {
                between.push_back(bar);
                continue;
            }
            const Duration length = bar.range().length();
            const Duration exposed{
                std::uniform_int_distribution<std::int64_t>(0, length.count())(random)};
            const auto kind = [&] {
                return static_cast<WorkKind>(1 + random() % (kWorkKinds - 1));
            };
            const WorkKind first = kind();
            const WorkKind second = random() % 4 == 0 ? kind() : first;
            bars.push_back(bar);
            WorkArea& one = work.emplace_back();
            one[0] = exposed.count();
            const std::int64_t rest = (length - exposed).count();
            one[static_cast<std::size_t>(first)] += rest - rest / 2;
            one[static_cast<std::size_t>(second)] += rest / 2;
            kinds.emplace_back(exposed, length, first, second);
        }
        for (const Bar& bar : between) work_between.push_back({bar.range().length().count()});
    }

    WorkSums sums() const {
        WorkSums of(bars, kinds);
        of.put_between(between);
        return of;
    }
    std::int64_t end() const {
        Instant last{};
        for (const Bars& all : {bars, between})
            if (!all.empty()) last = std::max(last, all.back().end);
        return last.time_since_epoch().count();
    }
    /// The sum by definition: every bar's part of the window.
    WorkArea by_hand(TimeRange window) const {
        WorkArea sum{};
        const auto add = [&](const Bars& all, const std::vector<WorkArea>& areas) {
            for (std::size_t i = 0; i < all.size(); ++i) {
                const Instant begin = std::max(all[i].begin, window.begin);
                const Instant last = std::min(all[i].end, window.end);
                if (last <= begin) continue;
                const double share = seconds(last - begin) / seconds(all[i].range().length());
                for (std::size_t k = 0; k < kWorkKinds; ++k)
                    sum[k] += std::llround(share * static_cast<double>(areas[i][k]));
            }
        };
        add(bars, work);
        add(between, work_between);
        return sum;
    }

    Bars bars;
    std::vector<BarWork> kinds;
    std::vector<WorkArea> work;
    Bars between;
    std::vector<WorkArea> work_between;
};

TEST(BarWork, GivesEveryNanosecondBack) {
    std::mt19937 random(9);
    for (int round = 0; round < 100'000; ++round) {
        const Duration length{1 + static_cast<std::int64_t>(random() >> (1 + random() % 31))};
        const Duration exposed{static_cast<std::int64_t>(random()) % (length.count() + 1)};
        const WorkArea work =
            BarWork(exposed, length, WorkKind::Weight, WorkKind::Forward).of(length);
        ASSERT_EQ(work[0], exposed.count()) << length.count();
        ASSERT_EQ(std::accumulate(work.begin(), work.end(), std::int64_t{0}), length.count());
    }
    const Duration day = std::chrono::hours(24);
    const BarWork half(day / 2, day, WorkKind::Backward, WorkKind::Backward);
    EXPECT_NEAR(static_cast<double>(half.of(day)[0]), 43'200e9, 43'200e9 / (1LL << 31U));
    const BarWork all(day, day, WorkKind::Backward, WorkKind::Backward);
    EXPECT_EQ(all.of(day)[0], Duration(day).count());
}

TEST(WorkSums, AddUpToTheCoveredTimeOfAnyWindow) {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        const WorkLane lane(random, 1 + random() % 200);
        const WorkSums sums = lane.sums();
        std::uniform_int_distribution<std::int64_t> anywhere(0, lane.end() + 100);
        for (int i = 0; i < 50; ++i) {
            const auto [from, to] = std::minmax({anywhere(random), anywhere(random)});
            const WorkArea expected = lane.by_hand({at(from), at(to)});
            const WorkArea found = sums.over({at(from), at(to)});
            for (std::size_t k = 0; k < kWorkKinds; ++k)
                EXPECT_LE(std::abs(found[k] - expected[k]), 3) << k;
        }
        const WorkArea all = lane.by_hand({at(0), at(lane.end())});
        for (std::size_t k = 0; k < kWorkKinds; ++k)
            EXPECT_EQ(sums.all(static_cast<WorkKind>(k)), all[k]);
    }
}

TEST(WorkSums, OfAWalkAreThoseOfSingleQuestions) {
    std::mt19937 random(8);
    const WorkLane lane(random, 3000);
    const WorkSums sums = lane.sums();
    for (const std::int64_t step : {1, 17, 900, 40'000}) {
        WorkSums::Walk walk(sums);
        for (std::int64_t ns = 0, n = 0; n < 2000; ns += step, ++n)
            EXPECT_EQ(walk.until(at(ns)), sums.over({at(0), at(ns)})) << ns;
    }
    EXPECT_EQ(WorkSums().over({at(0), at(5)}), WorkArea{});
    EXPECT_EQ(WorkSums().all(WorkKind::Exposed), 0);
}

}  // namespace
}  // namespace debubble::gui
