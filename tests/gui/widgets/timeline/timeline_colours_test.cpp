#include <QImage>
#include <QTest>

#include "tests/gui/widgets/timeline/one_f_one_b.h"
#include "tests/gui/widgets/timeline/views.h"

namespace debubble::gui {
namespace {

TEST_F(TimelineViewTest, PaintsTheColourOfWhatRuns) {
    const QImage image = view_.viewport()->grab().toImage();
    const auto colour_at = [&](QPoint at) { return image.pixel(at) | 0xff000000U; };
    const Palette& palette = palette_of(Theme::Light);
    // Off the middle, where the label is.
    const QPoint aside(0, view_.scene().layout.rows[0].bars.height / 2 - 3);
    EXPECT_EQ(colour_at(point(0.5, 0) - aside), pixel(palette[0]));
    EXPECT_EQ(colour_at(point(32, 0) - aside),
              pixel(palette[static_cast<std::size_t>(Paint::Backward)]));
}

TEST_F(TimelineViewTest, DrawsTheDependenciesOfTheSelection) {
    const Rgb accent = ground_of(Theme::Light).accent;
    const std::size_t before = count(view_.picture({1172, 450}, 1), accent);
    view_.search("1F2");
    view_.search("");  // the hits are no longer outlined
    EXPECT_EQ(selected(), "1F2");
    EXPECT_GT(count(view_.picture({1172, 450}, 1), accent), before + 50);
}

TEST_F(TimelineViewTest, ExportsAllRowsWhenStreamsAreOpen) {
    view_.set_document(document_of(
        plan("1f1b", 16, 32, std::chrono::milliseconds(1), std::chrono::microseconds(5))));
    ViewState state = view_.state();
    state.rows.streams = {1};
    view_.set_state(state);
    const QSize size = view_.export_size();
    const QImage page = view_.picture(size, 1);
    const Rgb forward = palette_of(Theme::Light)[0];
    const auto forwards_above = [&](int bottom, int height) {
        return count(page.copy(PageGeometry{}.gutter(), bottom - height, page.width(), height),
                     forward);
    };
    EXPECT_GT(forwards_above(size.height(), 60), 1000U);  // forwards of the last rank
    EXPECT_EQ(forwards_above(size.height(), 4), 0U);      // the gap below its bars
    EXPECT_EQ(view_.state().rows, state.rows);
}

TEST_F(TimelineViewTest, FadesWhatIsNotOnTheCriticalPath) {
    const Rgb forward = palette_of(Theme::Light)[0];
    const std::size_t before = count(view_.picture({1172, 450}, 1), forward);
    QTest::keyClick(&view_, Qt::Key_C);
    const std::size_t on_path = count(view_.picture({1172, 450}, 1), forward);
    EXPECT_GT(on_path, 0U);
    EXPECT_LT(on_path, before);
    QTest::keyClick(&view_, Qt::Key_C);
    EXPECT_EQ(count(view_.picture({1172, 450}, 1), forward), before);
}

TEST_F(TimelineViewTest, ComparesTwoDocumentsInHalfLanes) {
    Trace slower = plan("1f1b", 4, 8);
    for (Span& span : slower.spans)
        if (to_text(span.action) == "3B2") span.end += std::chrono::microseconds(900);
    const Document b = document_of(slower);
    view_.set_comparison(document_, b, pair(*document_, *b));
    ASSERT_TRUE(view_.scene().comparison);
    EXPECT_EQ(view_.scene().layout.rows[0].error.height, 3);
    ASSERT_EQ(view_.scene().pairing->worst.size(), 1U);

    // The lower half of rank 3 is B's.
    const Row row = *view_.scene().layout.row_of(3);
    click({point(5, 3).x(), PageGeometry{}.y_of(row, row.other.y + 3, 0)});
    EXPECT_EQ(std::get<SpanRef>(view_.state().selection).side, Side::B);
    EXPECT_EQ(view_.details().front(), (Detail{"of", "B"}));
    // The same action of A has a frame too.
    const Rgb accent = ground_of(Theme::Light).accent;
    const QImage both = view_.picture({1172, 450}, 1);
    for (const Band half : {row.bars, row.other}) {
        const QRect lane(PageGeometry{}.gutter(), PageGeometry{}.y_of(row, half.y, 0), 1000,
                         half.height);
        EXPECT_GT(count(both.copy(lane), accent), 20U);
    }

    const Rgb forward = palette_of(Theme::Light)[0];
    const std::size_t all = count(view_.picture({1172, 450}, 1), forward);
    ComparisonChoices choices;
    choices.only_differences = true;
    view_.set_comparison_choices(choices);
    EXPECT_LT(count(view_.picture({1172, 450}, 1), forward), all / 20);

    view_.set_document(document_);
    EXPECT_FALSE(view_.scene().comparison);
    EXPECT_EQ(view_.scene().layout.rows[0].error.height, 0);
}

TEST_F(TimelineViewTest, ColoursByWhatIsAsked) {
    const Rgb forward = palette_of(Theme::Light)[0];
    for (const ColourBy by : {ColourBy::MicroBatch, ColourBy::Stage}) {
        view_.set_colour_by(by);
        EXPECT_EQ(count(view_.picture({1172, 450}, 1), forward), 0U);
    }
    view_.set_colour_by(ColourBy::Kind);
    EXPECT_GT(count(view_.picture({1172, 450}, 1), forward), 1000U);
}

TEST_F(TimelineViewTest, ColoursByErrorWhereThereIsOneAndElseByKind) {
    const Rgb forward = palette_of(Theme::Light)[0];
    const QImage by_kind = view_.picture({1172, 450}, 1);
    view_.set_colour_by(ColourBy::Error);
    EXPECT_EQ(view_.picture({1172, 450}, 1), by_kind);
    view_.set_comparison(document_, document_, pair(*document_, *document_));
    EXPECT_EQ(count(view_.picture({1172, 450}, 1), forward), 0U);
    view_.set_document(document_);
    EXPECT_EQ(view_.picture({1172, 450}, 1), by_kind);
}

}  // namespace
}  // namespace debubble::gui
