#include "gui/viewmodel/timeline/hit.h"

#include <gmock/gmock.h>

#include "gui/viewmodel/timeline/answer_line.h"
#include "gui/viewmodel/timeline/area_totals.h"
#include "gui/viewmodel/timeline/measure.h"
#include "gui/viewmodel/timeline/wording.h"
#include "tests/gui/viewmodel/timeline/plans.h"
#include "trace/picture/bubbles.h"

namespace debubble::gui {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

Scene scene_of(Document document, RowChoices choices = {}, RowNeeds needs = {}) {
    Scene scene;
    scene.main = {std::move(document), nullptr, {}};
    scene.layout = lay_out(*scene.main.document, choices, needs, 400);
    return scene;
}

/// Every pixel of a row's bars is a bar or a bubble, as the statistics say.
TEST(Hit, IsABarOrABubbleEverywhereInTheStep) {
    const Scene scene = scene_of(document_of(plan("zb-h1", 4, 6)));
    const TimelineDocument& document = *scene.main.document;
    const TimeAxis axis(document.range, 1500);
    for (const Row& row : scene.layout.rows) {
        const Device& device = document.devices[row.device];
        for (int x = 0; x < 1500; ++x) {
            const Hit hit = hit_test(scene, axis, x, row.bars.y + 3);
            const Instant at = axis.at(x);
            if (hit.part == Hit::Part::Span) {
                const Span& span = document.span(std::get<SpanRef>(hit.selected).index);
                EXPECT_EQ(span.rank, device.rank);
                EXPECT_TRUE(span.begin <= at && at < span.end);
            } else {
                ASSERT_EQ(hit.part, Hit::Part::Bubble) << x;
                const Bubble& bubble = document.bubble(std::get<BubbleRef>(hit.selected).index);
                EXPECT_EQ(bubble.rank, device.rank);
                EXPECT_TRUE(bubble.begin <= at && at < bubble.end);
                EXPECT_EQ(bar_at(device.work, at), nullptr);
            }
        }
    }
}

TEST(Hit, FindsEverySpanWhereItIsDrawn) {
    const Document document = document_of(plan("1f1b", 4, 6, milliseconds(1), microseconds(300)));
    const Scene scene = scene_of(document, {.streams = {0, 1, 2, 3}});
    const TimeAxis axis(document->range, 100'000);
    for (std::uint32_t i = 0; i < document->trace.spans.size(); ++i) {
        const auto place = place_of(scene, {i, Side::A});
        ASSERT_TRUE(place) << i;
        const Instant middle = place->range.begin + place->range.length() / 2;
        const Hit hit = hit_test(scene, axis, axis.x(middle), place->band.y + 1);
        EXPECT_EQ(hit.selected, Selection(SpanRef{i, Side::A}));
    }
}

TEST(Hit, TellsTheHalfLanesOfAComparisonApart) {
    const Document a = document_of(plan("1f1b", 2, 4));
    Scene scene = scene_of(a, {}, {.comparison = true});
    scene.other = {document_of(plan("gpipe", 2, 4)), nullptr, milliseconds(1)};
    scene.comparison = true;
    const TimeAxis axis(scene.range(), 1000);
    const Row& row = scene.layout.rows[1];
    const Instant at = a->range.begin + milliseconds(5);
    const Hit upper = hit_test(scene, axis, axis.x(at), row.bars.y);
    const Hit lower = hit_test(scene, axis, axis.x(at), row.other.y);
    EXPECT_EQ(to_text(a->span(std::get<SpanRef>(upper.selected).index).action), "1B1");
    const auto ref = std::get<SpanRef>(lower.selected);
    EXPECT_EQ(ref.side, Side::B);
    // B is shifted by 1 ms: its work at 4 ms is drawn at 5 ms.
    EXPECT_EQ(to_text(scene.other.document->span(ref.index).action), "1F3");
}

TEST(Hit, FindsEverySpanOfBothSidesOfAComparison) {
    const Document a = document_of(plan("1f1b", 4, 6, milliseconds(1), microseconds(300)));
    const Document b = document_of(plan("gpipe", 4, 6, milliseconds(1), microseconds(500)));
    for (const RowChoices& choices : {RowChoices{}, RowChoices{.streams = {0, 1, 2, 3}}}) {
        Scene scene = scene_of(a, choices, {.memory = true, .comparison = true});
        scene.other = {b, nullptr, milliseconds(2)};
        scene.comparison = true;
        const TimeAxis axis(scene.range(), 100'000);
        for (const Side side : {Side::A, Side::B})
            for (std::uint32_t i = 0; i < scene.layer(side).document->trace.spans.size(); ++i) {
                const auto place = place_of(scene, {i, side});
                ASSERT_TRUE(place) << i;
                const Instant middle = place->range.begin + place->range.length() / 2;
                const Hit hit = hit_test(scene, axis, axis.x(middle), place->band.y);
                const auto* found = std::get_if<SpanRef>(&hit.selected);
                ASSERT_NE(found, nullptr) << i;
                EXPECT_EQ(found->side, side);
                if (choices.streams.empty()) continue;  // messages in a strip may cover each other
                EXPECT_EQ(found->index, i);
            }
    }
}

TEST(Hit, TellsWhoseMemoryIsPointedAt) {
    Scene scene =
        scene_of(document_of(plan("1f1b", 2, 4)), {}, {.memory = true, .comparison = true});
    scene.other = {document_of(plan("gpipe", 2, 4)), nullptr, {}};
    scene.comparison = true;
    const TimeAxis axis(scene.range(), 1000);
    const Row& row = scene.layout.rows[1];
    const Hit upper = hit_test(scene, axis, 10, row.memory.y);
    const Hit lower = hit_test(scene, axis, 10, row.other_memory.y);
    EXPECT_EQ(upper.part, Hit::Part::Memory);
    EXPECT_EQ(upper.side, Side::A);
    EXPECT_EQ(lower.part, Hit::Part::Memory);
    EXPECT_EQ(lower.side, Side::B);
}

TEST(WideBubbles, AreTheSameWhicheverWayTheyAreLookedFor) {
    const Document document = document_of(plan("1f1b", 8, 200, microseconds(10), microseconds(3)));
    for (const double width : {50.0, 2000.0}) {  // more bubbles than pixels, and fewer
        const TimeAxis axis(document->range, width);
        for (const Device& device : document->devices) {
            std::vector<std::uint32_t> expected;
            for (std::size_t b = device.first_bubble; b < device.last_bubble; ++b) {
                const Bubble& bubble = document->bubble(b);
                const double pixels = axis.x(bubble.end) - axis.x(bubble.begin);
                if (pixels >= 2) expected.push_back(static_cast<std::uint32_t>(b));
            }
            EXPECT_THAT(wide_bubbles(*document, device, axis, 2),
                        testing::UnorderedElementsAreArray(expected));
        }
    }
}

TEST(Snap, TakesTheNearestEdgeThatIsNear) {
    const Document document = document_of(plan("gpipe", 2, 4));
    const Scene scene = scene_of(document);
    const TimeAxis axis(document->range, 1500);  // 100 pixels a millisecond
    const int y = scene.layout.rows[0].bars.y;
    const auto snapped_ms = [&](double x) {
        return seconds(snap(scene, axis, x, y) - document->range.begin) * 1e3;
    };
    EXPECT_EQ(snapped_ms(105), 1);
    EXPECT_EQ(snapped_ms(95), 1);
    EXPECT_NEAR(snapped_ms(150), 1.5, 1e-3);
    EXPECT_EQ(snapped_ms(397), 4);                         // the end of the last forward
    EXPECT_EQ(snapped_ms(704), 7);                         // the end of a bubble
    EXPECT_EQ(snap(scene, axis, 105, -40), axis.at(105));  // there is no row
}

TEST(Measured, an_area_has_its_totals_by_kind_and_rank) {
    const Document document = document_of(plan("gpipe", 2, 4));
    const Scene scene = scene_of(document);
    ViewState state;
    state.measured_y = state.measured_to_y = scene.layout.rows[0].bars.y;
    // From the end of 0F3 to the start of 0B0 the rank is idle for 1F3 and 1B0.
    const Bars& work = document->devices[0].work;
    state.measured = TimeRange{work[3].end, work[4].begin};
    EXPECT_THAT(
        details_of_range(scene, state),
        testing::ElementsAre(
            Detail{"measured", "3 ms"}, Detail{"from", "end of 0F3"}, Detail{"to", "start of 0B0"},
            Detail{"idle: waits for a stage", "3 ms, 100.0 %", {{"rank 0", "3 ms, 100.0 %"}}}));
    // Both ranks: rank 1 computes all of the time.
    state.measured_to_y = scene.layout.rows[1].bars.y;
    const DraggedArea area{*state.measured, state.measured_to_y, state.measured_y};
    const std::vector<AreaTotal> totals = totals_of(scene, area);
    Duration all{};
    for (const AreaTotal& total : totals) {
        all += total.all;
        Duration of_ranks{};
        for (const AreaTotal::OfRank& rank : total.ranks) of_ranks += rank.time;
        EXPECT_EQ(of_ranks, total.all) << total.kind;
    }
    EXPECT_EQ(all, 2 * state.measured->length()) << "nothing is lost";
    EXPECT_THAT(sentence_of_totals(scene, area), testing::StartsWith("3 ms of 2 ranks: "));
    EXPECT_THAT(text_of(answer_line(scene, state)), testing::HasSubstr("waits for a stage 50.0 %"));
}

TEST(NextOp, WalksThroughATrackToItsEnds) {
    const Document document = document_of(plan("1f1b", 3, 5));
    const Scene scene = scene_of(document);
    std::optional<SpanRef> at = neighbour_of(scene, std::nullopt, 1);
    std::size_t steps = 0;
    for (; at; at = neighbour_of(scene, at, 1)) ++steps;
    EXPECT_EQ(steps, 2U * 5);
    EXPECT_EQ(neighbour_of(scene, neighbour_of(scene, std::nullopt, 1), -1), std::nullopt);
}

}  // namespace
}  // namespace debubble::gui
