#include "trace/picture/document/document.h"

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"
#include "trace/span_graph.h"

namespace debubble::gui {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(Document, HasADeviceForEveryRankWithAllItsComputes) {
    const Document document = document_of(
        plan("zb-h1", 4, 8, std::chrono::milliseconds(1), std::chrono::microseconds(10)));
    ASSERT_THAT(document->devices, SizeIs(4));
    for (int r = 0; r < 4; ++r) {
        const Device& device = document->devices[r];
        EXPECT_EQ(device.name, "rank " + std::to_string(r));
        EXPECT_THAT(device.work, SizeIs(3 * 8));
        EXPECT_THAT(device.stages, ElementsAre(Stage{r}));
        ASSERT_NE(device.statistics, nullptr);
        EXPECT_EQ(device.statistics->rank, device.rank);
    }
}

TEST(Document, LosesNoSpanToTheTracks) {
    for (const char* name : {"1f1b", "zb-h2", "zb-v", "dualpipe"}) {
        const int per_rank = std::string(name) == "zb-v" ? 2 : 1;
        const Document document = document_of(plan(name, 4, 12, std::chrono::milliseconds(1),
                                                   std::chrono::microseconds(700), per_rank));
        std::vector<bool> seen(document->trace.spans.size());
        const auto note = [&](const Bars& bars) {
            for (const Bar& bar : bars) seen[bar.span] = true;
        };
        for (const Device& device : document->devices) {
            note(device.work);
            for (const Stream& stream : device.streams) note(stream.bars);
        }
        EXPECT_THAT(seen, testing::Each(true)) << name;
    }
}

TEST(Document, GivesEveryDeviceItsBubbles) {
    const Document document = document_of(plan("1f1b", 4, 6));
    for (const Device& device : document->devices) {
        Duration idle{};
        for (std::size_t b = device.first_bubble; b < device.last_bubble; ++b) {
            const Bubble& bubble = document->statistics.bubbles[b];
            EXPECT_EQ(bubble.rank, device.rank);
            idle += bubble.end - bubble.begin;
        }
        EXPECT_EQ(idle, device.statistics->idle);
        EXPECT_EQ(idle, std::chrono::milliseconds(3 * (4 - 1)));  // (p - 1)(F + B)
    }
}

TEST(Document, KeepsTheReplicasOfARankApart) {
    Trace trace = plan("gpipe", 2, 2);
    const std::size_t folded = trace.spans.size();
    for (std::size_t i = 0; i < folded; ++i) {
        trace.spans.push_back(trace.spans[i]);
        trace.spans.back().replica = 1;
    }
    std::ranges::stable_sort(trace.spans, {}, [](const Span& s) { return s.begin; });
    trace.header.folded = false;
    const Document document = document_of(trace);
    ASSERT_THAT(document->devices, SizeIs(4));
    EXPECT_EQ(document->devices[1].name, "rank 0 replica 1");
    EXPECT_EQ(document->copies, 1);
}

TEST(Document, CountsWhatAFoldedTraceStandsFor) {
    Trace trace = plan("gpipe", 2, 2);
    trace.header.tensor = 2;
    trace.header.data = 8;
    EXPECT_EQ(document_of(trace)->copies, 16);
}

TEST(Document, FindsTheActionOfThePeak) {
    Trace trace = plan("gpipe", 2, 3);
    const Span& last_forward = *std::ranges::find_if(
        trace.spans, [](const Span& span) { return to_text(span.action) == "0F2"; });
    trace.memory = {{at(0), Bytes{70}, Rank{0}, MemoryClass::Activations}};
    trace.peaks = {{last_forward.end, {}, "0F2", "attention"}, {}};
    trace.peaks[0].held[0] = Bytes{90};
    const Document document = make_document(trace, Bytes{80});
    ASSERT_TRUE(document->devices[0].peak_span);
    EXPECT_EQ(to_text(document->span(*document->devices[0].peak_span).action), "0F2");
    EXPECT_EQ(document->memory_top, Bytes{90});
}

TEST(Document, OfNothingIsEmpty) {
    const Document document = document_of(Trace{});
    EXPECT_THAT(document->devices, SizeIs(0));
    EXPECT_EQ(document->range.length(), Duration{});
}

TEST(NearSpans, GiveEveryListBackHoweverFarItsSpansAre) {
    std::mt19937 random(3);
    constexpr std::uint32_t kSpans = 1'000'000'000;
    std::vector<std::vector<std::uint32_t>> lists(1000);
    picture::NearSpans near;
    for (std::uint32_t i = 0; i < lists.size(); ++i) {
        lists[i].resize(random() % 5);
        for (std::uint32_t& span : lists[i])
            span = random() % 4 == 0 ? 1000 + static_cast<std::uint32_t>(random()) % kSpans
                   : i > 300 && random() % 2 == 0
                       ? i - 1 - static_cast<std::uint32_t>(random()) % 300
                       : i + 1 + static_cast<std::uint32_t>(random()) % 300;
        near.add(lists[i].data(), lists[i].data() + lists[i].size());
    }
    std::vector<std::vector<std::uint32_t>> walked(lists.size());
    near.for_each([&](std::size_t i, std::uint32_t span) { walked[i].push_back(span); });
    EXPECT_EQ(walked, lists);
    for (std::size_t i = 0; i < lists.size(); ++i) ASSERT_EQ(near.of(i), lists[i]) << i;
}

TEST(ShortDurations, GiveLongOnesBackToo) {
    picture::ShortDurations durations(1000);
    const std::vector<std::int64_t> values{
        1, 0, 4'294'967'294, 4'294'967'295, 4'294'967'296, 9'000'000'000'000};
    for (std::size_t i = 0; i < values.size(); ++i) durations.set(300 + i, Duration{values[i]});
    for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(durations[300 + i], Duration{values[i]});
    EXPECT_EQ(durations[0], Duration{});
    EXPECT_EQ(durations[999], Duration{});
    durations.set(303, Duration{7});
    EXPECT_EQ(durations[303], Duration{7});
    durations.set(303, Duration{});
    EXPECT_EQ(durations[303], Duration{});
}

TEST(Document, KnowsTheWaitsThatNetLengthsLeaveOut) {
    const Document document = document_of(
        plan("zb-v", 4, 12, std::chrono::milliseconds(1), std::chrono::microseconds(700), 2));
    const std::vector<Duration> lengths = net_lengths(SpanGraph(document->trace));
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        EXPECT_EQ(document->net_length(i), lengths[i]);
        EXPECT_GE(document->waits[i], Duration{});
    }
}

TEST(Links, AreThoseOfTheGraphInBothDirections) {
    const Document document = document_of(
        plan("1f1b", 4, 6, std::chrono::milliseconds(1), std::chrono::microseconds(100)));
    const SpanGraph graph(document->trace);
    for (std::size_t i = 0; i < document->trace.spans.size(); ++i) {
        const auto needs = document->links.needs(i);
        EXPECT_TRUE(std::ranges::equal(needs, graph.predecessors_of(i)));
        for (const std::uint32_t needed : needs)
            EXPECT_TRUE(std::ranges::count(document->links.needed_by(needed), i));
        for (const std::uint32_t user : document->links.needed_by(i))
            EXPECT_TRUE(std::ranges::count(document->links.needs(user), i));
    }
}

}  // namespace
}  // namespace debubble::gui
