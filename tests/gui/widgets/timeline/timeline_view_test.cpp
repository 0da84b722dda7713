#include "gui/widgets/timeline/timeline_view.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <QWheelEvent>

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"
#include "tests/gui/widgets/timeline/views.h"

namespace debubble::gui {
namespace {

constexpr int kWidth = 1172;
constexpr int kHeight = 450;

/// 1F1B on four ranks, eight microbatches of F = 1 ms and B = 2 ms: (m + p - 1) x 3 ms long.
class TimelineViewTest : public testing::Test {
protected:
    TimelineViewTest() : document_(document_of(plan("1f1b", 4, 8))) {
        view_.resize(kWidth, kHeight);
        view_.set_document(document_);
        view_.show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&view_));
    }

    /// Where a time of a rank's bars is on the screen.
    QPoint point(double ms, int rank) const {
        const Row& row = *view_.scene().layout.row_of(static_cast<std::size_t>(rank));
        const int y =
            PageGeometry{}.y_of(row, row.bars.y + row.bars.height / 2, view_.state().scroll);
        const Instant when = document_->range.begin + from_seconds(ms * 1e-3);
        return {PageGeometry{}.gutter() + static_cast<int>(view_.state().axis.x(when)), y};
    }
    void wheel(QPoint at, int delta, Qt::KeyboardModifiers modifiers) {
        QWheelEvent event(at, view_.viewport()->mapToGlobal(at), {}, {0, delta}, Qt::NoButton,
                          modifiers, Qt::NoScrollPhase, false);
        QApplication::sendEvent(view_.viewport(), &event);
    }
    void click(QPoint at) { QTest::mouseClick(view_.viewport(), Qt::LeftButton, {}, at); }
    void drag(QPoint from, QPoint to, Qt::KeyboardModifiers modifiers = {}) {
        QTest::mousePress(view_.viewport(), Qt::LeftButton, modifiers, from);
        QTest::mouseMove(view_.viewport(), (from + to) / 2);
        QTest::mouseMove(view_.viewport(), to);
        QTest::mouseRelease(view_.viewport(), Qt::LeftButton, modifiers, to);
    }
    std::string selected() const {
        const auto* ref = std::get_if<SpanRef>(&view_.state().selection);
        return ref == nullptr ? "" : to_text(document_->span(ref->index).action);
    }
    TimeRange shown() const { return view_.state().axis.shown(); }

    Document document_;
    TimelineView view_;
};

TEST_F(TimelineViewTest, ShowsTheWholeStepAtFirst) {
    EXPECT_EQ(shown(), document_->range);
    EXPECT_EQ(document_->range.length(), std::chrono::milliseconds((8 + 4 - 1) * 3));
}

TEST_F(TimelineViewTest, SelectsTheBarThatIsClicked) {
    QSignalSpy spy(&view_, &TimelineView::span_selected);
    click(point(0.5, 0));
    EXPECT_EQ(selected(), "0F0");
    EXPECT_EQ(spy.count(), 1);
    click(point(3.5, 3));  // after three forwards before it
    EXPECT_EQ(selected(), "3F0");
    EXPECT_EQ(view_.details().front(), (Detail{"action", "3F0"}));
}

TEST_F(TimelineViewTest, SelectsABubbleAndSaysWhatItWaitsFor) {
    click(point(1.0, 3));
    ASSERT_TRUE(std::holds_alternative<BubbleRef>(view_.state().selection));
    EXPECT_THAT(view_.details().front().value, testing::StartsWith("warm-up"));
}

TEST_F(TimelineViewTest, ZoomsAtThePointerWithControlAndTheWheel) {
    const QPoint at = point(10, 1);
    const Instant before = view_.state().axis.at(at.x() - PageGeometry{}.gutter());
    wheel(at, 120, Qt::ControlModifier);
    wheel(at, 240, Qt::ControlModifier);
    EXPECT_LT(shown().length(), document_->range.length() / 1.6);
    const Instant after = view_.state().axis.at(at.x() - PageGeometry{}.gutter());
    EXPECT_LE(std::abs((after - before).count()), view_.state().axis.ns_per_pixel());
    wheel(at, -720, Qt::ControlModifier);
    EXPECT_EQ(shown(), document_->range);
}

TEST_F(TimelineViewTest, ZoomsAndPansByTheKeysOfPerfetto) {
    const auto key = [&](Qt::Key k) { QTest::keyClick(&view_, k); };
    key(Qt::Key_W);
    key(Qt::Key_W);
    const TimeRange zoomed = shown();
    EXPECT_LT(zoomed.length(), document_->range.length());
    key(Qt::Key_D);
    EXPECT_GT(shown().begin, zoomed.begin);
    key(Qt::Key_A);
    EXPECT_EQ(shown(), zoomed);
    key(Qt::Key_S);
    EXPECT_GT(shown().length(), zoomed.length());
    key(Qt::Key_Home);
    EXPECT_EQ(shown(), document_->range);
}

TEST_F(TimelineViewTest, MeasuresADragBetweenTheEdgesThatAreNear) {
    QSignalSpy spy(&view_, &TimelineView::range_measured);
    // From just before the end of 0F0 to just after the start of rank 0's first backward.
    const Instant first_end = document_->devices[0].work[0].end;
    const auto backward = std::ranges::find_if(document_->devices[0].work, [&](const Bar& bar) {
        return to_text(document_->span(bar.span).action) == "0B0";
    });
    const QPoint from = point(1, 0) - QPoint(4, 0);
    const double ms = seconds(backward->begin - document_->range.begin) * 1e3;
    drag(from, point(ms, 0) + QPoint(4, 0));
    ASSERT_TRUE(view_.state().measured);
    EXPECT_EQ(view_.state().measured->begin, first_end);
    EXPECT_EQ(view_.state().measured->end, backward->begin);
    EXPECT_GE(spy.count(), 1);
    EXPECT_EQ(shown(), document_->range);
}

TEST_F(TimelineViewTest, PansByDraggingWithShift) {
    view_.zoom_in();
    view_.zoom_in();
    const TimeRange before = shown();
    drag({600, 200}, {500, 200}, Qt::ShiftModifier);
    EXPECT_GT(shown().begin, before.begin);
    EXPECT_EQ(shown().length(), before.length());
    EXPECT_FALSE(view_.state().measured);
}

TEST_F(TimelineViewTest, GoesFromOpToOp) {
    click(point(0.5, 0));
    QTest::keyClick(&view_, Qt::Key_Period);
    EXPECT_EQ(selected(), "0F1");
    QTest::keyClick(&view_, Qt::Key_Comma);
    QTest::keyClick(&view_, Qt::Key_Comma);  // there is none before the first
    EXPECT_EQ(selected(), "0F0");
}

TEST_F(TimelineViewTest, GoesFromBubbleToBubbleAndToWhatEndsOneByKeys) {
    QTest::keyClick(&view_, Qt::Key_B);
    EXPECT_EQ(view_.state().selection, Selection(BubbleRef{0}));
    EXPECT_EQ(view_.details().front(), (Detail{"bubble", "waits for stage 1: 1B0 of rank 1"}));
    EXPECT_EQ(view_.accessibleDescription().toStdString(), spoken(view_.details()));
    EXPECT_THAT(view_.accessibleDescription().toStdString(), testing::HasSubstr("6 ms"));
    QTest::keyClick(&view_, Qt::Key_B);
    EXPECT_EQ(view_.state().selection, Selection(BubbleRef{1}));
    QTest::keyClick(&view_, Qt::Key_B, Qt::ShiftModifier);
    QTest::keyClick(&view_, Qt::Key_B, Qt::ShiftModifier);  // there is none before the first
    EXPECT_EQ(view_.state().selection, Selection(BubbleRef{0}));
    QTest::keyClick(&view_, Qt::Key_Return);
    EXPECT_EQ(selected(), "1B0");
    QTest::keyClick(&view_, Qt::Key_Return);  // an action is no wait
    EXPECT_EQ(selected(), "1B0");
    QTest::keyClick(&view_, Qt::Key_Escape);
    EXPECT_TRUE(view_.accessibleDescription().isEmpty());
}

TEST_F(TimelineViewTest, BringsTheNextBubbleIntoSight) {
    for (int i = 0; i < 8; ++i) view_.zoom_in();
    view_.previous_bubble();  // the last of all
    const auto range = range_of(view_.scene(), view_.state().selection);
    ASSERT_TRUE(range);
    EXPECT_TRUE(range->meets(shown()));
}

TEST_F(TimelineViewTest, CentresTheSelectionAndThenFitsIt) {
    for (int i = 0; i < 4; ++i) view_.zoom_in();
    click(point(14.5, 0));
    QTest::keyClick(&view_, Qt::Key_F);
    const Duration length = shown().length();
    const auto place = place_of(view_.scene(), std::get<SpanRef>(view_.state().selection));
    const double middle =
        (view_.state().axis.x(place->range.begin) + view_.state().axis.x(place->range.end)) / 2;
    EXPECT_NEAR(middle, (kWidth - PageGeometry{}.gutter()) / 2.0, 12);
    QTest::keyClick(&view_, Qt::Key_F);
    EXPECT_LT(shown().length(), length / 3);
    EXPECT_LE(shown().begin, place->range.begin);
    EXPECT_GE(shown().end, place->range.end);
}

TEST_F(TimelineViewTest, ClearsTheChoiceBeforeTheMarks) {
    QTest::mouseMove(view_.viewport(), point(5.2, 0));
    QTest::keyClick(&view_, Qt::Key_M);
    click(point(0.5, 0));
    EXPECT_EQ(view_.state().marks.size(), 1U);
    QTest::keyClick(&view_, Qt::Key_Escape);
    EXPECT_EQ(selected(), "");
    EXPECT_EQ(view_.state().marks.size(), 1U);
    QTest::keyClick(&view_, Qt::Key_Escape);
    EXPECT_TRUE(view_.state().marks.empty());
}

TEST_F(TimelineViewTest, GoesBackToAnyStateBefore) {
    const ViewState before = view_.state();
    click(point(0.5, 0));
    view_.zoom_in();
    view_.toggle_critical_path();
    EXPECT_NE(view_.state(), before);
    view_.set_state(before);
    EXPECT_EQ(view_.state(), before);
}

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

TEST_F(TimelineViewTest, OpensTheStreamsOfARankFromTheGutter) {
    const Document with_links = document_of(
        plan("1f1b", 4, 8, std::chrono::milliseconds(1), std::chrono::microseconds(100)));
    view_.set_document(with_links);
    const std::size_t rows = view_.scene().layout.rows.size();
    click({20, PageGeometry{}.top() + 10});
    EXPECT_EQ(view_.scene().layout.rows.size(), rows + with_links->devices[0].streams.size());
}

TEST_F(TimelineViewTest, KeepsItsPlaceWhenThePlanChanges) {
    view_.zoom_in();
    const TimeRange before = shown();
    view_.set_document(document_of(plan("gpipe", 4, 8)));
    view_.set_ghost(document_);
    EXPECT_EQ(shown(), before);
    EXPECT_GT(view_.scene().layout.rows[0].other.height, 0);
    view_.set_ghost(nullptr);
    EXPECT_EQ(view_.scene().layout.rows[0].other.height, 0);
}

TEST_F(TimelineViewTest, IsEmptyWithoutADocument) {
    TimelineView empty;
    empty.resize(400, 300);
    EXPECT_FALSE(empty.grab().isNull());
    for (const Qt::Key key : {Qt::Key_W, Qt::Key_F, Qt::Key_M, Qt::Key_B, Qt::Key_Return,
                              Qt::Key_Period, Qt::Key_Escape, Qt::Key_C, Qt::Key_Home})
        QTest::keyClick(&empty, key);
    empty.set_document(document_of(Trace{}));
    EXPECT_FALSE(empty.grab().isNull());
    view_.set_document(nullptr);
    EXPECT_FALSE(view_.grab().isNull());
    click({20, 60});
    click({400, 60});
    EXPECT_TRUE(view_.details().empty());
}

TEST_F(TimelineViewTest, SearchesAndWalksThroughWhatItFound) {
    QSignalSpy spy(&view_, &TimelineView::searched);
    view_.search("b rank 2");
    ASSERT_EQ(spy.count(), 1);
    EXPECT_EQ(spy.last().at(0).toULongLong(), 8U);
    EXPECT_EQ(selected(), "2B0");
    QTest::keyClick(&view_, Qt::Key_N);
    EXPECT_EQ(selected(), "2B1");
    QTest::keyClick(&view_, Qt::Key_N, Qt::ShiftModifier);
    QTest::keyClick(&view_, Qt::Key_N, Qt::ShiftModifier);
    EXPECT_EQ(selected(), "2B7");
    view_.search("rank x");
    EXPECT_EQ(spy.last().at(0).toULongLong(), 0U);
    EXPECT_FALSE(spy.last().at(1).toString().isEmpty());
}

TEST_F(TimelineViewTest, ScrollsToWhatItFound) {
    view_.set_document(document_of(plan("1f1b", 40, 8)));
    view_.resize(kWidth, 200);
    view_.search("39F3");
    const Row* row = row_of(view_.scene(), view_.state().selection);
    ASSERT_NE(row, nullptr);
    const int top = PageGeometry{}.y_of(*row, row->whole.y, view_.state().scroll);
    EXPECT_GE(top, PageGeometry{}.top());
    EXPECT_LE(top + row->whole.height, 200);
}

TEST_F(TimelineViewTest, SaysWhatWasMeasured) {
    drag(point(4, 0) + QPoint(2, 0), point(7, 0) + QPoint(2, 0));
    EXPECT_EQ(view_.details().front().name, "measured");
    EXPECT_EQ(view_.details().back().name, "idle: waits for a stage");
    EXPECT_EQ(view_.details().back().parts.front().name, "rank 0");
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

TEST_F(TimelineViewTest, OpensTheMenuOfTheSelectionsRowByAKey) {
    const auto choose = [&](const QString& words) {
        QTimer::singleShot(0, &view_, [words] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            ASSERT_NE(menu, nullptr);
            for (QAction* action : menu->actions())
                if (action->text() == words) action->trigger();
            menu->close();
        });
        QContextMenuEvent key(QContextMenuEvent::Keyboard, {}, view_.mapToGlobal(QPoint()));
        QApplication::sendEvent(view_.viewport(), &key);
    };
    click(point(3.5, 3));
    choose("Make thin");
    EXPECT_EQ(view_.state().rows.collapsed, std::set{3});
    choose("Keep at the top");
    EXPECT_EQ(view_.state().rows.pinned, std::set{3});
    choose("Make thin");
    EXPECT_THAT(view_.state().rows.collapsed, testing::IsEmpty());
}

}  // namespace
}  // namespace debubble::gui
