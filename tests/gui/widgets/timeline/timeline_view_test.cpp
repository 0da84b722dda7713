#include "gui/widgets/timeline/timeline_view.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>

#include <gmock/gmock.h>

#include "tests/gui/widgets/timeline/one_f_one_b.h"

namespace debubble::gui {
namespace {

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
