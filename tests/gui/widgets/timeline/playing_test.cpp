#include <QAccessible>
#include <QSignalSpy>
#include <QTest>

#include <gmock/gmock.h>

#include "gui/widgets/timeline/overview_view.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "tests/gui/viewmodel/timeline/plans.h"
#include "tests/gui/widgets/timeline/views.h"

namespace debubble::gui {
namespace {

constexpr int kDeadline = 30'000;

TEST(Playing, space_lets_a_cursor_run_and_escape_takes_it_away) {
    TimelineView view;
    view.resize(1172, 450);
    view.set_document(document_of(plan("1f1b", 4, 8)));
    view.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&view));
    QTest::keyClick(&view, Qt::Key_Space);
    ASSERT_TRUE(view.scene().cursor);
    const Instant begun = *view.scene().cursor;
    QSignalSpy frames(&view, &TimelineView::state_changed);
    ASSERT_TRUE(frames.wait(kDeadline));
    EXPECT_GT(*view.scene().cursor, begun);
    QTest::keyClick(&view, Qt::Key_Space);
    const Instant stopped = *view.scene().cursor;
    QTest::qWait(100);
    EXPECT_EQ(*view.scene().cursor, stopped);
    QTest::keyClick(&view, Qt::Key_Escape);
    EXPECT_FALSE(view.scene().cursor);
}

TEST(Playing, a_drag_along_the_ruler_moves_the_cursor) {
    TimelineView view;
    view.resize(1172, 450);
    const Document document = document_of(plan("1f1b", 4, 8));
    view.set_document(document);
    view.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&view));
    const QPoint middle = PageGeometry{view.viewport()->width(), 450}.ruler().x > 0
                              ? QPoint(600, int(PageGeometry{}.ruler().y) + 5)
                              : QPoint();
    QTest::mousePress(view.viewport(), Qt::LeftButton, {}, middle);
    ASSERT_TRUE(view.scene().cursor);
    const Instant first = *view.scene().cursor;
    QTest::mouseMove(view.viewport(), middle + QPoint(100, 0));
    EXPECT_GT(*view.scene().cursor, first);
    QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, middle + QPoint(100, 0));
    EXPECT_FALSE(view.state().measured) << "nothing is measured there";
}

TEST(Colours, of_a_long_trace_are_made_at_once_for_a_picture) {
    TimelineView view;
    view.resize(1172, 450);
    view.set_document(document_of(plan("1f1b", 32, 2048)));
    ASSERT_FALSE(view.scene().main.colouring);
    (void)view.picture(view.size(), 1);
    EXPECT_TRUE(view.scene().main.colouring);
}

/// A trace with more spans than are coloured at once.
TEST(Colours, of_a_long_trace_are_made_by_a_worker_while_those_before_stay) {
    TimelineView view;
    view.resize(1172, 450);
    const Document document = document_of(plan("1f1b", 32, 2048));
    ASSERT_GT(document->trace.spans.size(), TimelineView::kMostColouredHere);
    QSignalSpy coloured(&view, &TimelineView::coloured);
    view.set_document(document);
    EXPECT_FALSE(view.scene().main.colouring) << "the window does not wait for them";
    const auto forward = [](const QImage& image) {
        return count(image, picture::paint(Paint::Forward, picture::Theme::Light));
    };
    QImage seen(view.size(), QImage::Format_RGB32);
    view.viewport()->render(&seen);
    EXPECT_GT(forward(seen), 1000U) << "the kinds of work are seen at once";
    ASSERT_TRUE(coloured.wait(kDeadline));
    const auto before = view.scene().main.colouring;
    ASSERT_TRUE(before);
    view.toggle_critical_path();
    EXPECT_EQ(view.scene().main.colouring, before) << "no key waits for them";
    ASSERT_TRUE(coloured.wait(kDeadline));
    EXPECT_NE(view.scene().main.colouring, before);
    // Of two questions the last one counts.
    view.toggle_critical_path();
    view.set_colour_by(ColourBy::Stage);
    ASSERT_TRUE(coloured.wait(kDeadline));
    const auto by_stage = colour(*document, {Theme::Light, ColourBy::Stage});
    EXPECT_EQ(view.scene().main.colouring->devices[0].work.over(document->range),
              by_stage->devices[0].work.over(document->range));
}

TEST(Accessible, ranks_are_children_with_names_and_the_selection_is_the_last) {
    make_timelines_accessible();
    TimelineView view;
    view.resize(1172, 450);
    view.set_document(document_of(plan("1f1b", 4, 8)));
    view.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&view));
    QAccessibleInterface* timeline = QAccessible::queryAccessibleInterface(&view);
    ASSERT_NE(timeline, nullptr);
    ASSERT_EQ(timeline->childCount(), 5);
    EXPECT_EQ(timeline->child(2)->text(QAccessible::Name), "rank 2");
    EXPECT_TRUE(timeline->child(2)->text(QAccessible::Description).contains("idle"));
    EXPECT_EQ(timeline->indexOfChild(timeline->child(2)), 2);
    EXPECT_FALSE(timeline->child(0)->rect().isEmpty());
    view.next_bubble();
    EXPECT_TRUE(timeline->child(4)->text(QAccessible::Description).contains("waits"));
}

TEST(Overview, a_drag_names_the_ranks_of_its_lines) {
    OverviewView view;
    view.resize(900, 16 + 8 * 24);
    QSignalSpy drawn(&view, &OverviewView::drawn);
    view.set_document(document_of(plan("1f1b", 8, 16)));
    view.show();
    ASSERT_TRUE(!drawn.isEmpty() || drawn.wait(kDeadline));
    QSignalSpy brushed(&view, &OverviewView::brushed);
    QTest::mousePress(&view, Qt::LeftButton, {}, QPoint(400, 8 + 2 * 24 + 5));
    QTest::mouseMove(&view, QPoint(420, 8 + 4 * 24 + 5));
    QTest::mouseRelease(&view, Qt::LeftButton, {}, QPoint(420, 8 + 4 * 24 + 5));
    ASSERT_EQ(brushed.size(), 1);
    EXPECT_EQ(brushed[0][0].toInt(), 2);
    EXPECT_EQ(brushed[0][1].toInt(), 4);
    // A click takes the band under it: the ranks of a pipeline of even stages are similar.
    QTest::mouseClick(&view, Qt::LeftButton, {}, QPoint(400, 8 + 2 * 24 + 5));
    ASSERT_EQ(brushed.size(), 2);
    EXPECT_EQ(brushed[1][0].toInt(), 0);
    EXPECT_EQ(brushed[1][1].toInt(), 7);
}

TEST(Overview, the_rows_of_a_brush_are_shown_alone_until_all_are_asked_for) {
    TimelineView view;
    view.resize(1172, 450);
    view.set_document(document_of(plan("1f1b", 8, 16)));
    view.show_ranks(2, 4);
    EXPECT_EQ(view.scene().layout.rows.size(), 3U);
    EXPECT_EQ(view.state().rows.only, std::pair(2, 4));
    view.fit();
    EXPECT_EQ(view.scene().layout.rows.size(), 8U);
    view.show_ranks(0, 7);
    EXPECT_FALSE(view.state().rows.only);
}

TEST(Overview, a_click_beside_ranks_alike_opens_them) {
    TimelineView view;
    view.resize(1172, 450);
    view.set_document(document_of(plan("1f1b", 64, 8)));
    view.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&view));
    ASSERT_TRUE(view.scene().layout.rows[0].folded);
    const int y = PageGeometry{view.viewport()->width(), 450}.top() + 10;
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, QPoint(40, y));
    EXPECT_FALSE(view.scene().layout.rows[0].folded);
    EXPECT_EQ(view.scene().layout.rows.size(), 64U);
    view.toggle_folding();
    EXPECT_TRUE(view.scene().layout.rows[0].folded);
    view.toggle_folding();
    EXPECT_FALSE(view.scene().layout.rows[0].folded);
}

}  // namespace
}  // namespace debubble::gui
