#include "gui/viewmodel/timeline/waits.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "gui/viewmodel/timeline/answer_line.h"
#include "gui/viewmodel/timeline/overlays.h"
#include "gui/viewmodel/timeline/wording.h"
#include "tests/gui/viewmodel/timeline/plans.h"
#include "trace/picture/shapes/page_shapes.h"

namespace debubble::gui {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

Scene scene_with(Document document) {
    Scene scene;
    scene.main = {std::move(document), nullptr, {}};
    scene.main.colouring = colour(*scene.main.document, {});
    scene.layout = lay_out(*scene.main.document, {}, scene.needs(), 400);
    return scene;
}

TEST(Waits, EndWhenTheActionEndsThatIsNamed) {
    for (const char* name : {"gpipe", "1f1b", "zb-h1"})
        for (const Duration link : {Duration{}, Duration(microseconds(100))}) {
            const Document document = document_of(plan(name, 4, 6, milliseconds(1), link));
            for (const Bubble& bubble : document->statistics.bubbles) {
                const auto end = action_that_ends(*document, bubble);
                ASSERT_TRUE(end) << name_of(bubble.cause);
                const Span& span = document->span(*end);
                // The compute that a rank waits for ended a link's time before the rank's own
                // compute begins.
                const bool arrives = bubble.cause == BubbleCause::WarmUp;
                EXPECT_EQ(span.end + (arrives ? link : Duration{}), bubble.end)
                    << name << ' ' << to_text(span.action) << ' ' << name_of(bubble.cause);
                EXPECT_GT(span.end, bubble.begin);
            }
        }
}

TEST(Waits, OfALateHostEndWithTheRanksOwnAction) {
    Trace trace = plan("gpipe", 1, 3);
    for (Span& span : trace.spans)
        if (to_text(span.action) != "0F0") {
            span.begin += milliseconds(2);
            span.end += milliseconds(2);
        }
    const Document document = document_of(trace);
    ASSERT_EQ(document->statistics.bubbles.size(), 1U);
    const Bubble& bubble = document->bubble(0);
    ASSERT_EQ(bubble.cause, BubbleCause::Launch);
    EXPECT_EQ(to_text(document->span(action_that_ends(*document, bubble).value()).action), "0F1");
}

TEST(Waits, AreSaidWithWhatEndsThem) {
    const Document document = document_of(plan("1f1b", 4, 6));
    const auto details = details_of(*document, document->bubble(0));
    EXPECT_EQ(details.front().value, "waits for stage 1: 1B0 of rank 1");
    EXPECT_THAT(details, testing::Contains(Detail{"ended by", "1B0 of rank 1"}));
    const std::vector<Detail> parts{{"idle: waits for a stage", "9 ms, 33.3 %"}};
    EXPECT_EQ(details.back(), (Detail{"idle in all", "9 ms, 33.3 %", parts}));
    EXPECT_EQ(
        spoken(details),
        "bubble: waits for stage 1: 1B0 of rank 1; where: rank 0; start: 4 ms; duration: 6 ms, "
        "22 % of the step; ended by: 1B0 of rank 1; "
        "idle in all: 9 ms, 33.3 %");
    EXPECT_EQ(spoken({}), "");
}

TEST(BubbleBeside, WalksThroughAllOfARankAndThenOfTheNext) {
    const Scene scene = scene_with(document_of(plan("1f1b", 4, 8)));
    const auto& bubbles = scene.main.document->statistics.bubbles;
    std::vector<Bubble> walked;
    Selection at;
    while (const auto next = neighbour_bubble(scene, at, 1)) {
        walked.push_back(scene.main.document->bubble(next->index));
        at = *next;
    }
    EXPECT_EQ(walked, bubbles);
    EXPECT_TRUE(std::ranges::is_sorted(walked, {},
                                       [](const Bubble& b) { return std::pair(b.rank, b.begin); }));
    EXPECT_EQ(neighbour_bubble(scene, {}, -1), std::get<BubbleRef>(at));
    std::size_t back = 1;
    while (const auto before = neighbour_bubble(scene, at, -1)) {
        at = *before;
        ++back;
    }
    EXPECT_EQ(back, bubbles.size());
    EXPECT_EQ(neighbour_bubble({}, {}, 1), std::nullopt);
}

TEST(BubbleBeside, OfAnActionIsTheNearestOfItsRank) {
    const Scene scene = scene_with(document_of(plan("1f1b", 4, 8)));
    const TimelineDocument& document = *scene.main.document;
    for (std::uint32_t i = 0; i < document.trace.spans.size(); ++i) {
        const Span& span = document.span(i);
        const auto after = neighbour_bubble(scene, SpanRef{i}, 1);
        const auto before = neighbour_bubble(scene, SpanRef{i}, -1);
        if (after && document.bubble(after->index).rank == span.rank) {
            EXPECT_GE(document.bubble(after->index).begin, span.end);
        }
        if (before && document.bubble(before->index).rank == span.rank) {
            EXPECT_LE(document.bubble(before->index).end, span.begin);
        }
        if (before && after) {
            EXPECT_EQ(before->index + 1, after->index);
        }
    }
}

TEST(Overlays, DrawAnArrowFromTheSelectedBubbleToWhatEndsIt) {
    const Scene scene = scene_with(document_of(plan("1f1b", 4, 8)));
    View view;
    view.geometry = {1200, page_height(scene, 1200)};
    view.axis = TimeAxis(scene.range(), view.geometry.lanes_width());
    ViewState state;
    state.axis = view.axis;
    state.selection = BubbleRef{0};
    std::vector<Arrow> arrows;
    for (const Sheet& sheet : overlays(scene, state, view))
        for (const Shape& shape : sheet.shapes)
            if (const auto* arrow = std::get_if<Arrow>(&shape)) arrows.push_back(*arrow);
    ASSERT_EQ(arrows.size(), 1U);
    const Bubble& bubble = scene.main.document->bubble(0);
    const Span& end =
        scene.main.document->span(action_that_ends(*scene.main.document, bubble).value());
    EXPECT_EQ(arrows[0].from.x, (view.x(bubble.begin) + view.x(bubble.end)) / 2);
    EXPECT_EQ(arrows[0].to.x, view.x(end.begin));
    const Row& row = *scene.layout.row_of(static_cast<std::size_t>(end.rank.index));
    EXPECT_EQ(arrows[0].to.y, view.y(row, row.bars.y + row.bars.height / 2.0));
}

TEST(AnswerLine, NamesWhatEndsABubbleAndLinksToIt) {
    const Document document = document_of(plan("1f1b", 4, 8));
    const Scene scene = scene_with(document);
    const std::vector<Bubble>& bubbles = document->statistics.bubbles;
    int stages = 0;
    for (std::uint32_t i = 0; i < bubbles.size(); ++i) {
        const std::vector<Phrase> line = answer_line(scene, BubbleRef{i});
        const auto end = action_that_ends(*document, bubbles[i]);
        ASSERT_TRUE(end);
        EXPECT_THAT(line, testing::Contains(
                              Phrase{place_text(document->span(*end)), SpanRef{*end, Side::A}}));
        EXPECT_THAT(text_of(line),
                    testing::StartsWith(fmt::format("Rank {} waits ", bubbles[i].rank.index)));
        stages += bubbles[i].cause == BubbleCause::OtherStage ? 1 : 0;
    }
    EXPECT_GT(stages, 0);
    EXPECT_THAT(answer_line(scene, Selection{}), testing::IsEmpty());
}

TEST(AnswerLine, SaysOfAnActionWhatItFollows) {
    const Document document = document_of(plan("1f1b", 2, 4));
    const Scene scene = scene_with(document);
    // Rank 1: F0 comes from rank 0, B0 follows it.
    for (std::uint32_t i = 0; i < document->trace.spans.size(); ++i) {
        const std::string action = to_text(document->span(i).action);
        const std::string line = text_of(answer_line(scene, SpanRef{i, Side::A}));
        if (action == "1F0") {
            EXPECT_EQ(line,
                      "1F0 of rank 1 (forward of stage 1, microbatch 0) takes 1 ms; it begins when "
                      "0F0 of rank 0 ends.");
        } else if (action == "1B0") {
            EXPECT_EQ(line,
                      "1B0 of rank 1 (backward of stage 1, microbatch 0) takes 2 ms; it follows "
                      "1F0.");
        }
    }
}

}  // namespace
}  // namespace debubble::gui
