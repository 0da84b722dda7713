#include "gui/viewmodel/timeline/wording.h"

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::ElementsAre;

std::uint32_t span_of(const TimelineDocument& document, std::string_view text) {
    for (std::uint32_t i = 0; i < document.trace.spans.size(); ++i)
        if (to_text(document.span(i).action) == text) return i;
    ADD_FAILURE() << text;
    return 0;
}

TEST(Details, OfASpanSayWhatWhenAndWhy) {
    const Document document = document_of(plan("1f1b", 4, 6, milliseconds(1), milliseconds(1)));
    const auto details = details_of(*document, span_of(*document, "2F1"));
    EXPECT_THAT(details, Contains(Detail{"", "forward of stage 2, microbatch 1"}));
    EXPECT_THAT(details, Contains(Detail{"start", "5 ms"}));
    EXPECT_THAT(details, Contains(Detail{"duration", "1 ms"}));
    EXPECT_THAT(details, Contains(Detail{"begins", "follows 2F0"}));
    EXPECT_THAT(details_of(*document, span_of(*document, "2F0")),
                Contains(Detail{"begins", "follows 2RECV_F0"}));
    const auto send = details_of(*document, span_of(*document, "1SEND_F0"));
    EXPECT_THAT(send, Contains(Detail{"bytes", "1 MiB"}));
    EXPECT_THAT(send, Contains(Detail{"rate", "1.05 GB/s"}));
}

TEST(Details, OfABubbleNameWhatIsWaitedFor) {
    const Document document = document_of(plan("1f1b", 4, 6));
    std::vector<std::string> causes;
    for (std::size_t b = document->devices[1].first_bubble; b < document->devices[1].last_bubble;
         ++b)
        causes.push_back(cause_of(*document, document->bubble(b)));
    EXPECT_THAT(causes.front(), "warm-up: before its first compute, 1F0");
    EXPECT_THAT(causes, Contains(testing::StartsWith("waits for stage 2: 2B0 of rank 2")));
    EXPECT_EQ(causes.back(), "cool-down: other ranks still compute");
}

TEST(Gutter, SaysIdleShareAndWhetherMemoryIsTooMuch) {
    Trace trace = plan("gpipe", 2, 4);
    trace.header.data = 16;
    trace.peaks.resize(2);
    constexpr std::int64_t kGib = 1LL << 30;
    trace.peaks[0].held[0] = Bytes{88 * kGib};
    trace.peaks[1].held[0] = Bytes{8 * kGib};
    const Document document = make_document(trace, Bytes{80 * kGib});
    const GutterText first = gutter_text(*document, document->devices[0]);
    EXPECT_EQ(first.copies, "×16 identical");
    EXPECT_EQ(first.idle, "idle 20.0 %");  // (p - 1) / (m + p - 1)
    EXPECT_EQ(first.memory, "88.0/80.0 GiB OOM");
    EXPECT_TRUE(first.too_much);
    EXPECT_EQ(gutter_text(*document, document->devices[1]).memory, "8.0/80.0 GiB");
    Statistics drawn = statistics(trace);
    drawn.ranks[0].idle_by_cause[static_cast<std::size_t>(BubbleCause::UnevenLoad)] = Duration{1};
    const Document uneven = make_document(trace, drawn, std::nullopt);
    EXPECT_EQ(gutter_text(*uneven, uneven->devices[0]).copies, "1 of 16");
}

TEST(IdleSummary, AddsUpByCause) {
    const Document document = document_of(plan("gpipe", 2, 4));
    EXPECT_EQ(idle_summary(*document), "idle 20.0 %: stage 10.0 %, cool-down 6.7 %, warm-up 3.3 %");
}

TEST(Ticks, TellNeighboursApartHoweverCloseOneComes) {
    TimeAxis axis({at(0), at(20'000'000'000)}, 1000);
    for (int i = 0; i < 60; ++i) {
        const auto ticks = ticks_of(axis, at(0), 90);
        ASSERT_FALSE(ticks.empty());
        for (std::size_t t = 1; t < ticks.size(); ++t) {
            EXPECT_NE(ticks[t].text, ticks[t - 1].text);
            EXPECT_GE(axis.x(ticks[t].at) - axis.x(ticks[t - 1].at), 89);
        }
        for (const Tick& tick : ticks) EXPECT_TRUE(axis.x(tick.at) >= 0 && axis.x(tick.at) <= 1000);
        axis.zoom(1.4, 700);
    }
    EXPECT_THAT(
        ticks_of(TimeAxis({at(0), at(400)}, 500), at(0), 90),
        ElementsAre(testing::Field(&Tick::text, "0 ns"), testing::Field(&Tick::text, "100 ns"),
                    testing::Field(&Tick::text, "200 ns"), testing::Field(&Tick::text, "300 ns"),
                    testing::Field(&Tick::text, "400 ns")));
}

}  // namespace
}  // namespace debubble::gui
