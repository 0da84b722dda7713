#pragma once

#include <string>

#include <gtest/gtest.h>
#include <QTest>
#include <QWheelEvent>

#include "gui/widgets/timeline/timeline_view.h"
#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {

/// 1F1B on four ranks, eight microbatches of F = 1 ms and B = 2 ms: (m + p - 1) x 3 ms long.
class TimelineViewTest : public testing::Test {
protected:
    static constexpr int kWidth = 1172;
    static constexpr int kHeight = 450;

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

}  // namespace debubble::gui
