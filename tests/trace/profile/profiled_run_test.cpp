#include "trace/profile/runs/profiled_run.h"

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "tests/trace/profile/megatron_run.h"
#include "trace/executed_order.h"
#include "trace/profile/formats/profile_files.h"
#include "trace/statistics.h"
#include "trace/steps.h"

namespace debubble::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ProfiledRun read(const MegatronRun& run, int ranks, const RunOptions& options = {}) {
    std::vector<RankProfile> profiles;
    for (int r = 0; r < ranks; ++r)
        profiles.push_back(read_kineto_text(run.file(r), fmt::format("rank-{}.json", r)));
    return put_together(std::move(profiles), options);
}

class MegatronShapes : public testing::TestWithParam<MegatronShape> {};

TEST_P(MegatronShapes, GiveTheirPassesAndTheirBubble) {
    const MegatronRun truth(GetParam());
    const int p = GetParam().ranks;
    const int m = GetParam().micro_batches;
    const ProfiledRun run = read(truth, p);
    EXPECT_EQ(run.confidence(), 1.0);
    EXPECT_EQ(run.order, "1f1b");
    EXPECT_THAT(run.notes, ElementsAre());
    const Statistics found = statistics(median_step(run.trace));
    EXPECT_NEAR(found.bubble, truth.bubble(0), 1e-4);
    EXPECT_EQ(steps_in(run.trace), GetParam().steps);
    for (int r = 0; r < p; ++r) {
        EXPECT_EQ(run.ranks[r].layers, GetParam().layers);
        const int w = std::min(p - r - 1, m);
        const int n = m - w;
        const int expected = p == 1       ? 0
                             : r == 0     ? 2 * w + n
                             : r == p - 1 ? 1 + n
                                          : 4 * w + 2 * n + 1;
        if (m >= p) {
            EXPECT_EQ(truth.exchanges(r), expected);
        }
        EXPECT_EQ(run.ranks[r].account.count[KernelClass::PointToPoint],
                  static_cast<std::size_t>(truth.exchanges(r) * GetParam().steps));
        const std::vector<std::int64_t> skew = GetParam().skew;
        if (!skew.empty() && p > 1) {
            EXPECT_EQ(run.ranks[r].clock_ahead, skew[r] - skew[0]);
        }
    }
}

TEST_P(MegatronShapes, GiveEveryActionItsTrueTime) {
    const MegatronRun truth(GetParam());
    const ProfiledRun run = read(truth, GetParam().ranks);
    const std::int64_t start = [&] {
        std::int64_t first = INT64_MAX;
        for (int r = 0; r < GetParam().ranks; ++r)
            for (const TrueAction& a : truth.truth(r)) first = std::min(first, a.begin);
        return first;
    }();
    for (int r = 0; r < GetParam().ranks; ++r) {
        std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> expected;
        std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> found;
        for (const TrueAction& a : truth.truth(r))
            expected.emplace_back(to_text(a.action), a.begin - start, a.end - start);
        for (const Span& s : run.trace.spans)
            if (s.rank == Rank{r} && !std::holds_alternative<GradNorm>(s.action))
                found.emplace_back(to_text(s.action), s.begin.time_since_epoch().count(),
                                   s.end.time_since_epoch().count());
        std::ranges::sort(expected);
        std::ranges::sort(found);
        EXPECT_EQ(found, expected) << "rank " << r;
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, MegatronShapes,
                         testing::Values(MegatronShape{},
                                         MegatronShape{4, 6, 2, 2, {0, 351'700, -118'300, 92'900}},
                                         MegatronShape{2, 5, 3, 3, {0, -5'000'000}},
                                         MegatronShape{8, 12, 1, 1}, MegatronShape{1, 4, 2, 2},
                                         MegatronShape{4, 2, 2, 2},
                                         MegatronShape{4, 6, 2, 2, {}, true}));

TEST(ProfiledRun, SplitsExchangesIntoTransferAndWait) {
    const MegatronRun truth({});
    const ProfiledRun run = read(truth, 4);
    for (int r = 0; r < 4; ++r) {
        const ExchangeTimes& times = run.ranks[r].exchanges;
        EXPECT_EQ(times.total, times.transfer + times.wait);
        // Both ends are ready 2 us before the bytes go.
        EXPECT_EQ(times.transfer.count(),
                  static_cast<std::int64_t>(times.kernels) * (MegatronRun::kTransfer + 2'000));
    }
}

TEST(ProfiledRun, IsAProgramThatItWasExecutedBy) {
    const ProfiledRun run = read(MegatronRun({}), 4);
    ASSERT_EQ(run.trace.program.ranks.size(), 4U);
    EXPECT_THAT(executed_in_order(run.trace.program, run.trace), ElementsAre());
}

TEST(ProfiledRun, SaysWhereItLeavesTheOrderOfAPlan) {
    RunOptions options;
    options.program = generate("gpipe", {4, 1, 6, 1});
    const ProfiledRun run = read(MegatronRun({}), 4, options);
    EXPECT_EQ(run.order, "1f1b");
    ASSERT_EQ(run.notes.size(), 1U);
    EXPECT_THAT(run.notes[0], HasSubstr("pass 5 of rank 0 is a B, and it lists 0F4"));
}

TEST(ProfiledRun, RefusesRanksOfDifferentRuns) {
    const MegatronRun four({});
    const MegatronRun eight({.ranks = 8});
    const MegatronRun later({.first_step = 40});
    const auto refused = [](const std::string& a, const std::string& b) -> std::string {
        std::vector<RankProfile> profiles;
        profiles.push_back(read_kineto_text(a, "a.json"));
        profiles.push_back(read_kineto_text(b, "b.json"));
        try {
            put_together(std::move(profiles));
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(refused(four.file(0), four.file(0)), HasSubstr("b.json: error: this is rank 0"));
    EXPECT_THAT(refused(four.file(0), eight.file(1)), HasSubstr("a run of 64 ranks"));
    EXPECT_THAT(refused(four.file(0), later.file(1)), HasSubstr("steps ProfilerStep#40"));
    const MegatronRun gloo({.backend = "gloo"});
    EXPECT_THAT(refused(four.file(0), gloo.file(1)), HasSubstr("communicates by gloo"));
    const MegatronRun far({.skew = {0, 3'600'000'000'000, 0, 0}});
    EXPECT_THAT(refused(four.file(0), far.file(1)), HasSubstr("no time in common"));
}

}  // namespace
}  // namespace debubble::profile
