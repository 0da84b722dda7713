#include "sim/report/traces/profile_report.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace debubble::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Instant at(std::int64_t ns) {
    return Instant{Duration{ns}};
}

Trace one_pass() {
    Trace trace;
    trace.header.pipeline = 1;
    trace.spans.push_back({Rank{0},
                           0,
                           Lane::Compute,
                           Compute{Pass::Forward, Stage{0}, MicroBatch{0, {}}},
                           at(10),
                           at(5'000),
                           {},
                           {}});
    return trace;
}

TEST(MemoryOfRanks, IsTheSumOfClassesAndKnowsWhenItWasGreatest) {
    Trace trace = one_pass();
    trace.memory = {{at(0), Bytes{100}, Rank{0}, MemoryClass::Parameters},
                    {at(0), Bytes{7}, Rank{0}, MemoryClass::Activations},
                    {at(2'000), Bytes{50}, Rank{0}, MemoryClass::Activations},
                    {at(9'000), Bytes{20}, Rank{0}, MemoryClass::Activations}};
    const std::vector<RankMemory> found = memory_of_ranks(trace);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].peak, Bytes{150});
    EXPECT_EQ(found[0].at, at(2'000));
    EXPECT_EQ(found[0].action, "0F0");
    EXPECT_THAT(found[0].held,
                ElementsAre(HeldBytes{at(0), Bytes{107}}, HeldBytes{at(2'000), Bytes{150}},
                            HeldBytes{at(9'000), Bytes{120}}));
}

TEST(MemoryOfRanks, KeepsThePeakOfManySamples) {
    Trace trace = one_pass();
    for (int i = 0; i < 10'000; ++i)
        trace.memory.push_back(
            {at(i), Bytes{i == 7'001 ? 9'000 : i % 50}, Rank{0}, MemoryClass::Activations});
    const std::vector<RankMemory> found = memory_of_ranks(trace);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_LE(found[0].held.size(), kMostHeldPoints);
    EXPECT_THAT(found[0].held, testing::Contains(HeldBytes{at(7'001), Bytes{9'000}}));
    EXPECT_EQ(found[0].action, "");
}

TEST(MemoryOfRanks, IsInTheReportOfAProfile) {
    profile::ProfiledRun run;
    run.trace = one_pass();
    run.trace.memory = {{at(2'000), Bytes{3LL << 30}, Rank{0}, MemoryClass::Activations}};
    run.ranks.emplace_back();
    const ProfileReport report = profile_report(run);
    EXPECT_THAT(to_text(report), HasSubstr("   0      3.00 GiB        2.000 us  0F0\n"));
    const auto json = nlohmann::json::parse(to_json(report));
    EXPECT_EQ(json["memory"][0]["peak_bytes"], 3LL << 30);
    EXPECT_EQ(json["memory"][0]["action"], "0F0");
    run.trace.memory.clear();
    EXPECT_EQ(nlohmann::json::parse(to_json(profile_report(run)))["memory"].size(), 0U);
}

}  // namespace
}  // namespace debubble::sim
