#include <array>
#include <cctype>
#include <sstream>

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"
#include "trace/picture/bubbles.h"
#include "trace/picture/document/exposed_bars.h"
#include "trace/picture/legend.h"
#include "trace/picture/shapes/page_shapes.h"
#include "trace/picture/shapes/row_shapes.h"
#include "trace/picture/shapes/svg_painter.h"
#include "trace/picture/wording.h"

/// The one description of what is drawn, which every painter translates.
namespace debubble::gui {
namespace {

using std::chrono::milliseconds;
using testing::Each;
using testing::Not;

constexpr std::array kThemes{Theme::Light, Theme::Dark};

TEST(Labels, DropTheNumberBeforeTheLetter) {
    const LabelNumbers numbers{2, 1};  // "12" and "3"
    const LabelFont font{0.64, 7, 11};
    std::vector<LabelForm> forms;
    for (int width = 1; width < 80; ++width) {
        std::vector<double> widths(20, width);
        const LabelForm form = label_style(widths, numbers, font).form;
        if (forms.empty() || form != forms.back()) forms.push_back(form);
    }
    EXPECT_THAT(forms, testing::ElementsAre(LabelForm::None, LabelForm::Letter,
                                            LabelForm::LetterAndNumber, LabelForm::StageToo));
    const Action action = Compute{Pass::BackwardWeight, Stage{2}, {7, {}}};
    EXPECT_EQ(label_of(action, LabelForm::None), "");
    EXPECT_EQ(label_of(action, LabelForm::Letter), "W");
    EXPECT_EQ(label_of(action, LabelForm::LetterAndNumber), "W7");
    EXPECT_EQ(label_of(action, LabelForm::StageToo), "2W7");
    EXPECT_EQ(label_of(Recompute{Stage{2}, {7, {}}}, LabelForm::StageToo), "2R7");
}

TEST(Labels, HaveTheLargestFontThatFits) {
    const LabelNumbers numbers{1, 0};
    int before = 7;
    for (int width = 18; width < 60; ++width) {
        std::vector<double> widths{static_cast<double>(width)};
        const LabelStyle style = label_style(widths, numbers, {0.64, 7, 11});
        ASSERT_EQ(style.form, LabelForm::LetterAndNumber) << width;
        EXPECT_GE(style.size, before);
        before = style.size;
    }
    EXPECT_EQ(before, 11);
}

TEST(Bubbles, AreSeenInBothThemesAndDifferByCause) {
    for (const Theme theme : kThemes) {
        std::vector<Rgb> lines;
        for (std::size_t c = 0; c < kBubbleCauses; ++c) {
            const BubbleColours colours = bubble_colours(static_cast<BubbleCause>(c), theme);
            EXPECT_GE(contrast(colours.line, colours.ground), 3) << c;
            EXPECT_GE(contrast(colours.line, ground_of(theme).window), 3) << c;
            EXPECT_GE(contrast(colours.line, ground_of(theme).lane), 3) << c;
            EXPECT_GE(contrast(colours.words, colours.ground), 4.5) << c;
            EXPECT_THAT(lines, Each(Not(colours.line)));
            lines.push_back(colours.line);
        }
    }
}

TEST(Bubbles, SayCauseAndLengthAsFarAsThereIsRoom) {
    using Lines = std::vector<std::string>;
    const auto forms = [](BubbleCause cause, int lines) {
        std::vector<Lines> found;
        for (int letters = 0; letters < 40; ++letters) {
            Lines label = bubble_label(cause, milliseconds(1236), letters, lines);
            for (const std::string& line : label)
                EXPECT_LE(line.size(), static_cast<std::size_t>(letters));
            if (found.empty() || label != found.back()) found.push_back(std::move(label));
        }
        return found;
    };
    const Lines whole{"waits for a stage, 1.24 s"};
    EXPECT_THAT(forms(BubbleCause::OtherStage, 1),
                testing::ElementsAre(Lines{}, Lines{"1.24 s"}, Lines{"stage 1.24 s"}, whole));
    EXPECT_THAT(
        forms(BubbleCause::OtherStage, 2),
        testing::ElementsAre(Lines{}, Lines{"stage", "1.24 s"}, Lines{"stage 1.24 s"}, whole));
    EXPECT_THAT(forms(BubbleCause::WarmUp, 2),
                testing::ElementsAre(Lines{}, Lines{"1.24 s"}, Lines{"warm-up", "1.24 s"},
                                     Lines{"warm-up 1.24 s"}));
    EXPECT_THAT(forms(BubbleCause::WarmUp, 0), testing::ElementsAre(Lines{}));
}

/// The words on bubbles have an ink of their own, which no bar's label has.
bool is_of_a_bubble(const Text& text, const View& view) {
    return text.ink == bubble_colours({}, view.theme).words;
}

struct Drawn {
    explicit Drawn(Document document, int width = 1000) {
        timeline.main = {std::move(document), nullptr, {}};
        timeline.main.colouring = colour(*timeline.main.document, {});
        timeline.layout = lay_out(*timeline.main.document, {}, timeline.needs(), 400);
        view.geometry = {width, page_height(timeline, width)};
        view.axis = TimeAxis(timeline.range(), view.geometry.lanes_width());
    }
    Sheets rows() const { return row_sheets(timeline, view); }
    template <class Kind>
    std::vector<Kind> all() const {
        std::vector<Kind> found;
        for (const Sheet& sheet : rows())
            for (const Shape& shape : sheet.shapes)
                if (const auto* kind = std::get_if<Kind>(&shape)) found.push_back(*kind);
        return found;
    }

    Timeline timeline;
    View view;
};

TEST(RowShapes, HaveOneFormOfLabel) {
    Drawn shown(document_of(plan("zb-h1", 4, 12)));
    for (const int width : {400, 700, 1000, 1600, 3000}) {
        shown.view.geometry.width = width;
        shown.view.axis.resize(shown.view.geometry.lanes_width());
        const LabelStyle style = label_style(shown.timeline, shown.view);
        for (const Text& text : shown.all<Text>()) {
            if (text.words == "opt" || is_of_a_bubble(text, shown.view)) continue;
            EXPECT_EQ(text.size, style.size);
            EXPECT_TRUE(std::isalpha(text.words.front())) << text.words;
            EXPECT_EQ(text.words.size() > 1, style.form >= LabelForm::LetterAndNumber);
        }
    }
    EXPECT_EQ(label_style(shown.timeline, shown.view).form, LabelForm::LetterAndNumber);
}

TEST(RowShapes, OfBarsOneByOneCoverWhatBlendedOnesCover) {
    Drawn blended(document_of(plan("1f1b", 4, 8)));
    Drawn boxes(blended.timeline.main.document);
    boxes.view.means.most_boxes = 1000;
    EXPECT_TRUE(boxes.all<Columns>().empty());
    ASSERT_EQ(blended.all<Columns>().size(), 4U);
    for (const Area& area : boxes.all<Area>()) {
        const bool is_bar = area.fill == paint(Paint::Forward, Theme::Light) ||
                            area.fill == paint(Paint::Backward, Theme::Light);
        if (!is_bar) continue;
        const auto middle = static_cast<std::size_t>(area.rect.x + area.rect.width / 2);
        for (const Columns& columns : blended.all<Columns>())
            if (columns.rect.y == area.rect.y) {
                EXPECT_EQ(columns.colours[middle], pixel(area.fill));
            }
    }
}

TEST(RowShapes, HatchEveryWideBubbleInTheColourOfItsCause) {
    const Drawn shown(document_of(plan("1f1b", 4, 8)));
    const TimelineDocument& document = *shown.timeline.main.document;
    std::vector<Rgb> expected;
    for (const Bubble& bubble : document.statistics.bubbles)
        if (shown.view.axis.x(bubble.end) - shown.view.axis.x(bubble.begin) >= 5)
            expected.push_back(bubble_colours(bubble.cause, Theme::Light).line);
    std::vector<Rgb> drawn;
    for (const Hatch& hatch : shown.all<Hatch>()) drawn.push_back(hatch.ink);
    EXPECT_THAT(drawn, testing::UnorderedElementsAreArray(expected));
    EXPECT_FALSE(drawn.empty());
}

/// The words on a bubble, and what was drawn below them before.
struct Words {
    std::string words;
    Rgb ink;
    Area plate;
    Area bubble;
};
std::vector<Words> words_of_bubbles(const Drawn& shown) {
    std::vector<Words> found;
    for (const Sheet& sheet : shown.rows())
        for (std::size_t i = 3; i < sheet.shapes.size(); ++i) {
            const auto* text = std::get_if<Text>(&sheet.shapes[i]);
            if (text == nullptr || !is_of_a_bubble(*text, shown.view)) continue;
            if (const auto* plate = std::get_if<Area>(&sheet.shapes[i - 1]))
                found.push_back(
                    {text->words, text->ink, *plate, std::get<Area>(sheet.shapes[i - 3])});
            else
                found.back().words += '|' + text->words;
        }
    return found;
}

TEST(RowShapes, WriteOnWideBubblesWhyAndForHowLong) {
    for (const Theme theme : kThemes)
        for (const std::size_t most_boxes : {std::size_t{0}, std::size_t{1000}}) {
            Drawn shown(document_of(plan("1f1b", 4, 8)), 1300);
            shown.view.theme = theme;
            shown.view.means.most_boxes = most_boxes;
            shown.view.means.tips = true;
            std::vector<std::string> labels;
            for (const auto& [words, ink, plate, bubble] : words_of_bubbles(shown)) {
                labels.push_back(words);
                EXPECT_GE(contrast(ink, plate.fill), 4.5) << words;
                EXPECT_EQ(plate.fill, bubble.fill);
                EXPECT_GE(plate.rect.x, bubble.rect.x);
                EXPECT_LE(plate.rect.right(), bubble.rect.right());
                EXPECT_GE(plate.rect.y, bubble.rect.y);
                EXPECT_LE(plate.rect.bottom(), bubble.rect.bottom());
                EXPECT_TRUE(plate.tip.empty() && plate.passive) << "the bubble has the tip";
            }
            // The last rank waits for three forwards, and at the end for three backwards.
            EXPECT_THAT(labels, testing::IsSupersetOf({"warm-up 3 ms", "cool-down 6 ms",
                                                       "warm-up|2 ms", "waits for a stage, 6 ms"}));
        }
}

TEST(RowShapes, WriteNothingOnNarrowBubblesAndInThinRows) {
    Drawn shown(document_of(plan("1f1b", 4, 8)));
    EXPECT_FALSE(words_of_bubbles(shown).empty());
    for (Row& row : shown.timeline.layout.rows) row.bars.height = 8;
    EXPECT_TRUE(words_of_bubbles(shown).empty());
    shown.timeline.layout = lay_out(*shown.timeline.main.document, {}, {}, 400);
    shown.view.axis.resize(60);
    EXPECT_TRUE(words_of_bubbles(shown).empty());
}

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

TEST(FarView, KeepsTheKindsOfWorkApartAsSharesOfTheHeight) {
    // A thousand microbatches on 400 pixels: a forward takes a third of a microbatch.
    Drawn shown(document_of(plan("1f1b", 2, 1000)), 164 + 400);
    const Band bars = shown.timeline.layout.rows[0].bars;
    const auto level = [&](Paint of) {
        for (const Steps& steps : shown.all<Steps>())
            for (const Steps::Level& one : steps.levels)
                if (steps.rect.y == bars.y && one.fill == paint(of, Theme::Light)) return one.tops;
        return std::vector<float>{};
    };
    const std::vector<float> forward = level(Paint::Forward);
    const std::vector<float> backward = level(Paint::Backward);
    ASSERT_EQ(forward.size(), 400U);
    for (std::size_t x = 20; x < 380; ++x) {
        EXPECT_NEAR(forward[x], bars.y, 0.05 * bars.height) << "no time is idle in the middle";
        EXPECT_NEAR(backward[x], bars.y + bars.height / 3.0, 0.07 * bars.height) << x;
    }
    shown.view.axis = TimeAxis({at(0), at(30'000'000)}, 400);  // ten microbatches
    EXPECT_TRUE(level(Paint::Forward).empty()) << "near bars have their own colour";
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

TEST(RowShapes, ShowMemoryRedOnlyAboveTheLimit) {
    Trace trace = plan("gpipe", 1, 4);  // 4 F and 4 B of 3 ms in all: 12 ms
    trace.memory = {{at(0), Bytes{50}, Rank{0}, MemoryClass::Parameters},
                    {at(6'000'000), Bytes{45}, Rank{0}, MemoryClass::Activations}};
    Drawn shown(make_document(trace, Bytes{80}), 264);  // a hundred columns
    const Band lane = shown.timeline.layout.rows[0].memory;
    std::vector<std::uint32_t> pixels(100 * 400);
    const Canvas canvas{pixels.data(), 100, 400, 100};
    for (const Steps& steps : shown.all<Steps>()) {
        std::vector<StepLevel> levels;
        for (const Steps::Level& level : steps.levels) {
            StepLevel& in_pixels = levels.emplace_back(StepLevel{{}, level.fill});
            for (const float top : level.tops)
                in_pixels.tops.push_back(static_cast<int>(std::lround(top)));
        }
        const int y = static_cast<int>(steps.rect.y);
        fill_steps(canvas, {y, static_cast<int>(std::lround(steps.rect.bottom())) - y}, levels,
                   steps.ground);
    }
    const Ground& ground = ground_of(Theme::Light);
    const auto at_share = [&](int x, double share) {  // share of 95 bytes, the top
        const int y = lane.bottom() - 1 - static_cast<int>(lane.height * share);
        return canvas.line(y)[x];
    };
    EXPECT_EQ(at_share(75, 0.92), pixel(ground.warning));
    const auto of = [&](MemoryClass held_as) {
        return pixel(ground.memory[static_cast<std::size_t>(held_as)]);
    };
    EXPECT_EQ(at_share(75, 0.7), of(MemoryClass::Activations));
    EXPECT_EQ(at_share(75, 0.3), of(MemoryClass::Parameters));
    EXPECT_EQ(at_share(25, 0.3), of(MemoryClass::Parameters));
    EXPECT_EQ(at_share(25, 0.7), pixel(ground.lane));
    const auto red = std::ranges::count(pixels, pixel(ground.warning));
    EXPECT_NEAR(static_cast<double>(red), 50 * lane.height * 15.0 / 95, 50);
}

TEST(Legend, NamesWhatOccursAndTheShareOfEveryCause) {
    const Drawn shown(document_of(plan("gpipe", 2, 4)));
    std::ostringstream out;
    write_svg(page(shown.timeline, shown.view), shown.view.geometry.width,
              shown.view.geometry.height, out);
    const std::string text = out.str();
    for (const char* words : {">forward (F)<", ">backward (B, I)<", ">idle 20.0 %:<",
                              ">stage 10.0 %<", ">cool-down 6.7 %<", ">warm-up 3.3 %<"})
        EXPECT_THAT(text, testing::HasSubstr(words));
    for (const char* words : {"weight gradient", ">live<", ">link "})
        EXPECT_THAT(text, Not(testing::HasSubstr(words)));
}

TEST(Legend, NamesBothSidesOfAComparisonAndWhatTellsThemApart) {
    const auto titled = [](const char* subtitle) {
        Trace trace = plan("1f1b", 2, 4);
        Statistics of_trace = statistics(trace);
        return make_document(std::move(trace), std::move(of_trace), {}, {},
                             {{"plan: step 1 s", subtitle}});
    };
    Drawn shown(titled("2 x A100; 1f1b"), 1600);
    shown.timeline.other = {titled("2 x A100; gpipe"), shown.timeline.main.colouring, {}};
    shown.timeline.comparison = true;
    std::vector<std::string> words;
    for (const Shape& shape : head_shapes(shown.timeline, shown.view))
        if (const auto* text = std::get_if<Text>(&shape)) words.push_back(text->words);
    EXPECT_THAT(words,
                testing::IsSupersetOf({"A: plan: step 1 s (1f1b)", "B: plan: step 1 s (gpipe)"}));
    EXPECT_EQ(only_in("a; b; c", "b"), "a; c");
    EXPECT_EQ(only_in("", ""), "");
}

TEST(Legend, IsNeverWiderThanThePicture) {
    for (const int width : {220, 400, 800, 1600}) {
        const Drawn shown(document_of(plan("zb-h1", 4, 8)), width);
        for (const Sheet& sheet : surroundings(shown.timeline, shown.view))
            for (const Shape& shape : sheet.shapes)
                if (const auto* area = std::get_if<Area>(&shape)) {
                    EXPECT_LE(area->rect.right(), width);
                }
    }
}

}  // namespace
}  // namespace debubble::gui
