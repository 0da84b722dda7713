#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/drawn.h"
#include "trace/picture/document/exposed_bars.h"
#include "trace/picture/legend.h"
#include "trace/picture/wording.h"

/// The exposed part of bars, and the operators of a pass below them.
namespace debubble::gui {
namespace {

using std::chrono::milliseconds;

/// One rank: a forward of which three quarters are exposed, a gather that nothing hides, and a
/// backward without communication; 100 ms in all.
Trace with_exposed_parts() {
    const auto ms = [](std::int64_t n) { return at(n * 1'000'000); };
    const auto compute = [&](Pass pass, std::int64_t begin, std::int64_t end) {
        return Span{Rank{0}, 0, Lane::Compute, Compute{pass, Stage{0}, {}}, ms(begin), ms(end),
                    {},      {}};
    };
    Trace trace;
    trace.header = {TraceSource::Simulated, "t", "", 1, 1, 1, 1, true};
    Span forward = compute(Pass::Forward, 0, 40);
    forward.exposed = milliseconds(30);
    forward.exposed_parts =
        trace.exposed_parts.number({milliseconds(10), {}, milliseconds(20), {}, {}, {}});
    trace.spans = {forward,
                   {Rank{0}, 0, Lane::Collective, ReduceGrad{Stage{0}}, ms(40), ms(60), {}, {}},
                   compute(Pass::Backward, 60, 100)};
    return trace;
}

TEST(Exposed, IsTheLowerPartOfABarAndAllOfAGatherBetweenBars) {
    Drawn shown(document_of(with_exposed_parts()), 164 + 100);
    const Band bars = shown.timeline.layout.rows[0].bars;
    const Device& device = shown.timeline.main.document->devices[0];
    ASSERT_EQ(device.between.size(), 1U);
    EXPECT_EQ(device.between[0], (Bar{at(40'000'000), at(60'000'000), 1}));
    for (const Theme theme : kThemes) {
        shown.view.theme = theme;
        const Rgb communication = paint(Paint::Collective, theme);
        shown.view.means.most_boxes = 0;
        std::vector<float> heights;  // of each column, as shares of the lane
        for (const Steps& steps : shown.all<Steps>())
            if (steps.rect.y == bars.y && steps.levels[0].fill == communication)
                for (const float top : steps.levels[0].tops)
                    heights.push_back((static_cast<float>(bars.bottom()) - top) /
                                      static_cast<float>(bars.height));
        ASSERT_EQ(heights.size(), 100U);
        for (std::size_t x = 0; x < 100; ++x)
            EXPECT_NEAR(heights[x], x < 40 ? 0.75 : x < 60 ? 1 : 0, 1e-6) << x;
        shown.view.means.most_boxes = 100;
        std::vector<Rect> areas;
        for (const Area& area : shown.all<Area>())
            if (area.fill == communication && area.rect.y >= bars.y &&
                area.rect.bottom() <= bars.bottom())
                areas.push_back(area.rect);
        ASSERT_EQ(areas.size(), 2U);
        EXPECT_NEAR(areas[0].height, 0.75 * bars.height, 1e-9);
        EXPECT_EQ(areas[0].bottom(), bars.bottom());
        EXPECT_EQ(areas[1].height, bars.height);
        EXPECT_EQ(areas[1].x, 40);
    }
}

TEST(Exposed, IsNotDrawnWhereColoursAreErrors) {
    Drawn shown(document_of(with_exposed_parts()), 164 + 100);
    shown.timeline.main.colouring =
        colour(*shown.timeline.main.document, {Theme::Light, ColourBy::Error});
    for (const Steps& steps : shown.all<Steps>())
        EXPECT_NE(steps.levels[0].fill, paint(Paint::Collective, Theme::Light));
}

TEST(Exposed, IsDividedByWhatItServesInLegendAndTips) {
    Drawn shown(document_of(with_exposed_parts()), 1200);
    const TimelineDocument& document = *shown.timeline.main.document;
    std::vector<std::string> words;
    for (const Shape& shape : head_shapes(shown.timeline, shown.view))
        if (const auto* text = std::get_if<Text>(&shape)) words.push_back(text->words);
    // 10, 20 and 20 of 100 ms.
    EXPECT_THAT(words, testing::Contains("exposed 50.0 %: EP 20.0 %, DP 20.0 %, TP 10.0 %"));
    EXPECT_EQ(exposed_text(document, document.span(0)),
              "30 ms, 75.0 % of it (EP 50.0 %, TP 25.0 %)");
    EXPECT_THAT(tip_of(document, document.span(0)),
                testing::HasSubstr("exposed communication 30 ms, 75.0 % of it"));
    EXPECT_EQ(gutter_text(document, document.devices[0]).exposed, "exposed 50.0 %");
}

TEST(Operators, AreASecondRowOfBarsThatAreWideEnough) {
    auto parts = std::make_shared<OperatorParts>(OperatorParts{
        {"qkv", false, 0, 0.25, 0}, {"gather", true, 0.25, 0.75, 0.2}, {"mlp", false, 0.75, 1, 0}});
    auto table = std::make_shared<OperatorTable>();
    table->put(Compute{Pass::Forward, Stage{0}, {}}, parts);
    EXPECT_EQ(table->of(Compute{Pass::Forward, Stage{0}, {5, {}}}), parts.get());
    EXPECT_EQ(table->of(Compute{Pass::Backward, Stage{0}, {}}), nullptr);
    Trace trace = with_exposed_parts();
    Statistics of_trace = statistics(trace);
    const Document document =
        make_document(std::move(trace), std::move(of_trace), std::nullopt, {}, {{}, table});
    for (const int width : {200, 1000}) {  // the forward has 80 and 400 of these pixels
        Drawn shown(document, 164 + width);
        shown.view.means.most_boxes = 100;
        shown.view.means.tips = true;
        const Band row = operator_row(shown.timeline.layout.rows[0].bars);
        std::vector<std::string> tips;
        for (const Area& area : shown.all<Area>())
            if (area.rect.y > row.y && area.rect.bottom() <= row.bottom() && !area.tip.empty())
                tips.push_back(area.tip);
        if (width == 200)
            EXPECT_THAT(tips, testing::IsEmpty());
        else
            EXPECT_THAT(tips, testing::ElementsAre(
                                  "qkv \u00b7 10 ms", "gather \u00b7 20 ms exposed, 8 ms hidden",
                                  "mlp \u00b7 10 ms", "gather \u00b7 20 ms exposed, 8 ms hidden"));
    }
}

}  // namespace
}  // namespace debubble::gui
