#include <cctype>

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/drawn.h"
#include "trace/picture/bubbles.h"

/// The one description of what is drawn, which every painter translates.
namespace debubble::gui {
namespace {

using std::chrono::milliseconds;
using testing::Each;
using testing::Not;

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

}  // namespace
}  // namespace debubble::gui
