#include <QAction>
#include <QDockWidget>
#include <QFormLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QStyle>
#include <QTabBar>
#include <QTableView>
#include <QTest>
#include <QToolBar>

#include "gui/widgets/colours.h"
#include "gui/widgets/sweep/scatter_view.h"
#include "gui/widgets/sweep/sweep_panel.h"
#include "gui/widgets/timeline/geometry.h"
#include "gui/widgets/what_if/summary_panel.h"
#include "gui/widgets/what_if/what_if_panel.h"
#include "tests/gui/widgets/window.h"
#include "trace/picture/shapes/page_shapes.h"

/// Every part of the window has enough room.
namespace debubble::gui {
namespace {

class Room : public Window {
protected:
    void TearDown() override {
        command("Theme of the system")->trigger();
        QApplication::setFont(font_);
        window = nullptr;
    }

    void settle_layout() const {
        for (int i = 0; i < 3; ++i) QApplication::processEvents();
    }
    double share_of_lanes(QSize size) {
        window->resize(size);
        settle_layout();
        EXPECT_EQ(window->size(), size);
        const QRectF lanes =
            Geometry{window->findChild<TimelineView*>()->viewport()->size()}.lanes();
        return lanes.width() * lanes.height() / (double(size.width()) * size.height());
    }
    QDockWidget* dock(const QString& name) { return part<QDockWidget>(name); }
    QTabBar* pages() { return part<QTabBar>("pages"); }

    const QFont font_ = QApplication::font();
};

TEST_F(Room, is_the_lanes_on_the_first_start) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    EXPECT_GE(share_of_lanes({1280, 720}), 0.55);
    EXPECT_GE(share_of_lanes({1920, 1080}), 0.65);
}

TEST_F(Room, is_enough_on_a_screen_of_1920_by_1080_at_200_percent) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    for (const char* name : {"text", "run", "compare", "details"}) {
        dock(name)->show();
        dock(name)->raise();
        settle_layout();
        EXPECT_LE(window->minimumSizeHint().width(), 1920 / 2 - 16) << name;
        EXPECT_LE(window->minimumSizeHint().height(), 1080 / 2 - 48) << name;
    }
    window->resize(1920 / 2 - 16, 1080 / 2 - 48);
    settle_layout();
    const QRect frame = window->rect();
    for (const QDockWidget* open : window->findChildren<QDockWidget*>()) {
        if (open->visibleRegion().isEmpty()) continue;
        const QRect place(open->mapTo(window.get(), QPoint()), open->size());
        EXPECT_TRUE(frame.contains(place)) << open->objectName().toStdString();
    }
}

TEST_F(Room, with_large_letters_every_label_of_the_panel_is_whole_or_can_be_scrolled_to) {
    QFont large = font_;
    large.setPointSize(22);
    QApplication::setFont(large);
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    window->resize(1280, 720);
    settle_layout();
    EXPECT_LE(window->minimumSizeHint().width(), 1280);
    auto* panel = window->findChild<WhatIfPanel*>();
    const QWidget* page = panel->widget();
    EXPECT_GE(panel->viewport()->width() + panel->horizontalScrollBar()->maximum(), page->width());
    int labels = 0;
    for (const QLabel* label : page->findChildren<QLabel*>()) {
        if (!label->isVisible() || label->wordWrap()) continue;
        ++labels;
        EXPECT_GE(label->width(), label->minimumSizeHint().width()) << label->text().toStdString();
        EXPECT_GE(label->height(), label->minimumSizeHint().height());
        EXPECT_LE(label->mapTo(page, QPoint(label->width(), 0)).x(), page->width());
    }
    EXPECT_GT(labels, 10);
}

TEST_F(Room, with_large_letters_the_figures_of_the_summary_are_whole) {
    for (const int points : {9, 20}) {
        QFont letters = font_;
        letters.setPointSize(points);
        QApplication::setFont(letters);
        ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
        window->resize(1280, 720);
        command("Reset the layout")->trigger();
        settle_layout();
        const auto* summary = static_cast<const SummaryPanel*>(dock("summary")->widget());
        ASSERT_TRUE(summary->isVisible());
        EXPECT_EQ(summary->columnWidth(0) + summary->columnWidth(1), summary->viewport()->width());
        int rows = 0;
        for (int i = 0; i < summary->topLevelItemCount(); ++i) {
            const QTreeWidgetItem* item = summary->topLevelItem(i);
            if (item->isFirstColumnSpanned()) continue;
            ++rows;
            for (const int column : {0, 1}) {
                const QString text = item->text(column);
                const int margin = summary->style()->pixelMetric(QStyle::PM_FocusFrameHMargin) + 1;
                const int room = summary->columnWidth(column) - 2 * margin -
                                 (column == 0 ? summary->indentation() : 0);
                const QRect needed = summary->fontMetrics().boundingRect(QRect(0, 0, room, 10'000),
                                                                         Qt::TextWordWrap, text);
                EXPECT_LE(needed.height(), summary->visualItemRect(item).height())
                    << text.toStdString() << " in " << room;
                EXPECT_TRUE(item->toolTip(column).startsWith(text)) << text.toStdString();
            }
        }
        EXPECT_GT(rows, 10);
    }
}

TEST_F(Room, with_large_letters_is_wider_left_of_the_lanes_as_its_words_need) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    window->resize(1280, 720);
    QFont large = font_;
    large.setPointSize(20);
    QApplication::setFont(large);
    settle_layout();
    const auto* timeline = window->findChild<TimelineView*>();
    const double scale = text_scale(timeline->font());
    EXPECT_NEAR(scale, 20 / 9.0, 0.1);
    View view;
    view.geometry = Geometry{timeline->viewport()->size(), scale};
    view.axis = timeline->state().axis;
    EXPECT_EQ(view.axis.width(), view.geometry.lanes_width());
    EXPECT_GE(view.geometry.lanes_width(), 500);
    QFont font = timeline->font();
    int names = 0;
    for (const Sheet& sheet : surroundings(timeline->scene(), view))
        for (const Shape& shape : sheet.shapes) {
            const auto* text = std::get_if<Text>(&shape);
            if (text == nullptr || text->at.x > view.geometry.gutter() ||
                text->at.y < view.geometry.map_top())
                continue;
            ++names;
            font.setPixelSize(int(std::lround(text->size)));
            const double width = QFontMetricsF(font).horizontalAdvance(text->words.c_str());
            EXPECT_GE(text->size, 10);
            if (text->anchor == Anchor::End)
                EXPECT_GE(text->at.x - width, 0) << text->words;
            else
                EXPECT_LE(text->at.x + width, view.geometry.gutter()) << text->words;
        }
    EXPECT_GE(names, 4);
}

TEST_F(Room, is_made_by_folding_panels_which_come_back) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    const int before = window->findChild<TimelineView*>()->width();
    QTest::keyClick(window.get(), Qt::Key_B, Qt::ControlModifier);
    settle_layout();
    EXPECT_TRUE(dock("what-if")->isHidden());
    EXPECT_GT(window->findChild<TimelineView*>()->width(), before);
    QTest::keyClick(window.get(), Qt::Key_B, Qt::ControlModifier);
    settle_layout();
    EXPECT_FALSE(dock("what-if")->isHidden());
    EXPECT_TRUE(dock("text")->isHidden());
    QTest::keyClick(window.get(), Qt::Key_J, Qt::ControlModifier);
    EXPECT_FALSE(dock("text")->isHidden());
    QTest::keyClick(window.get(), Qt::Key_J, Qt::ControlModifier);
    EXPECT_TRUE(dock("text")->isHidden());
}

TEST_F(Room, is_arranged_as_at_the_first_start_again) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    dock("what-if")->hide();
    dock("summary")->setFloating(true);
    window->addDockWidget(Qt::TopDockWidgetArea, dock("text"));
    dock("text")->show();
    command("Reset the layout")->trigger();
    settle_layout();
    EXPECT_FALSE(dock("what-if")->isHidden());
    EXPECT_FALSE(dock("summary")->isFloating());
    EXPECT_TRUE(dock("text")->isHidden());
    EXPECT_EQ(window->dockWidgetArea(dock("text")), Qt::BottomDockWidgetArea);
}

TEST_F(Room, is_the_whole_screen_by_f11_and_the_window_again) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    QTest::keyClick(window.get(), Qt::Key_F11);
    EXPECT_TRUE(window->isFullScreen());
    QTest::keyClick(window.get(), Qt::Key_F11);
    EXPECT_FALSE(window->isFullScreen());
}

TEST_F(Room, is_the_sweeps_in_a_tab_with_a_large_plot) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    window->resize(1280, 720);
    QTest::keyClick(window.get(), Qt::Key_2, Qt::AltModifier);
    settle_layout();
    const auto* plot = window->findChild<ScatterView*>();
    ASSERT_TRUE(plot->isVisible());
    EXPECT_GE(double(plot->width()) * plot->height(), 0.25 * 1280 * 720);
    QTest::keyClick(window.get(), Qt::Key_1, Qt::AltModifier);
    EXPECT_TRUE(window->findChild<TimelineView*>()->isVisible());
}

TEST_F(Room, is_the_timelines_again_when_a_plan_of_a_sweep_is_opened) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    pages()->setCurrentIndex(1);
    auto* sweep = window->findChild<SweepPanel*>();
    part<QPlainTextEdit>("sweep-grid")->setPlainText("schedule: [1f1b, gpipe]");
    QSignalSpy finished(sweep, &SweepPanel::finished);
    part<QPushButton>("sweep-start")->click();
    ASSERT_TRUE(!finished.isEmpty() || finished.wait(kDeadline));
    auto* table = part<QTableView>("sweep-table");
    Q_EMIT table->clicked(table->model()->index(0, 0));
    EXPECT_EQ(pages()->currentIndex(), 1) << "one click only chooses";
    Q_EMIT table->activated(table->model()->index(0, 0));
    EXPECT_EQ(pages()->currentIndex(), 0);
}

TEST_F(Room, has_the_theme_that_was_chosen_also_at_the_next_start) {
    command("Dark theme")->trigger();
    settle_layout();
    EXPECT_TRUE(is_dark(window->palette()));
    EXPECT_TRUE(is_dark(part<QComboBox>("sweep-x")->palette()));
    window->close();
    command("Theme of the system")->trigger();  // like a new start of the program
    remember_theme(WindowTheme::Dark);
    window = std::make_unique<MainWindow>();
    settle_layout();
    EXPECT_TRUE(is_dark(window->palette()));
    EXPECT_TRUE(command("Dark theme")->isChecked());
    command("Light theme")->trigger();
    settle_layout();
    EXPECT_FALSE(is_dark(window->palette()));
}

TEST_F(Room, has_a_tool_bar_whose_commands_follow_the_screen) {
    const auto* bar = part<QToolBar>("tool-bar");
    const auto button = [&](const QString& name) {
        for (const QAction* action : bar->actions())
            if (action->iconText() == name) return action->isEnabled();
        ADD_FAILURE() << "no button " << name.toStdString();
        return false;
    };
    EXPECT_FALSE(button("Execute"));
    EXPECT_TRUE(button("Open"));
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    EXPECT_TRUE(button("Execute"));
    EXPECT_FALSE(button("Undo"));
}

}  // namespace
}  // namespace debubble::gui
