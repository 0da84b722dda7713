#include "trace/profile/memory_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/profile/formats/profile_files.h"

namespace debubble::profile {
namespace {

TEST(RecordedMemory, IsReadOfOneDeviceElseOfTheHost) {
    const auto event = [](int at, int type, int device, int held) {
        return R"({"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":)" +
               std::to_string(at) + R"(,"args":{"Device Type":)" + std::to_string(type) +
               R"(,"Device Id":)" + std::to_string(device) + R"(,"Total Allocated":)" +
               std::to_string(held) + "}}";
    };
    const std::string host = event(3, 0, -1, 700) + "," + event(1, 0, -1, 500);
    const RankProfile of_host = read_kineto_text("[" + host + "]", "a.json");
    EXPECT_THAT(of_host.memory,
                testing::ElementsAre(MemoryPoint{1000, 500}, MemoryPoint{3000, 700}));
    EXPECT_FALSE(of_host.peak_allocated);
    const RankProfile of_device = read_kineto_text(
        "[" + host + "," + event(2, 1, 5, 40) + "," + event(4, 1, 6, 9000) + "]", "a.json");
    EXPECT_THAT(of_device.memory, testing::ElementsAre(MemoryPoint{2000, 40}));
    EXPECT_EQ(of_device.peak_allocated, 40);
}

TEST(RecordedMemory, KeepsThePeakOfAnyNumberOfEvents) {
    MemoryCurve curve(100);
    for (int i = 0; i < 100'000; ++i) curve.add({i, i == 54'321 ? 7'000 : i % 1000});
    const std::vector<MemoryPoint> points = curve.take();
    EXPECT_LE(points.size(), 100U);
    EXPECT_TRUE(std::ranges::is_sorted(points));
    const auto most = std::ranges::max_element(points, {}, &MemoryPoint::held);
    EXPECT_EQ(most->held, 7'000);
    EXPECT_NEAR(static_cast<double>(most->at), 54'321, 2048);
    EXPECT_TRUE(curve.empty());
}

TEST(RecordedMemory, BelongsToTheTraceWithItsPeak) {
    Trace trace;
    trace.header.pipeline = 2;
    const Action forward = Compute{Pass::Forward, Stage{1}, MicroBatch{0, {}}};
    trace.spans.push_back(
        {Rank{1}, 0, Lane::Compute, forward, Instant{Duration{10}}, Instant{Duration{20}}, {}, {}});
    const std::vector<MemoryPoint> points{{-9, 1}, {-5, 300}, {12, 500}, {15, 400}, {99, 900}};
    add_recorded_memory(trace,
                        {{Rank{0}, 0, {{0, 5}}}, {Rank{1}, 0, points}, {Rank{1}, 1, {{3, 2}}}});
    std::vector<std::pair<int, std::int64_t>> held;
    for (const MemorySample& sample : trace.memory)
        held.emplace_back(sample.at.time_since_epoch().count(), sample.held.count);
    EXPECT_THAT(held, testing::ElementsAre(std::pair(0, 5), std::pair(0, 300), std::pair(12, 500),
                                           std::pair(15, 400)));
    ASSERT_EQ(trace.peaks.size(), 2U);
    EXPECT_EQ(total(trace.peaks[1].held), Bytes{500});
    EXPECT_EQ(trace.peaks[1].action, "1F0");
    Trace without = trace;
    without.memory.clear();
    without.peaks.clear();
    add_recorded_memory(without, {{Rank{0}, 0, {}}, {Rank{1}, 0, points}});
    EXPECT_EQ(without.memory.size(), 3U);
    EXPECT_TRUE(without.peaks.empty());
}

}  // namespace
}  // namespace debubble::profile
