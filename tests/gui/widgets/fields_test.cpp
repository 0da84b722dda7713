#include <set>

#include <QApplication>
#include <QDockWidget>
#include <QFileDialog>
#include <QFocusEvent>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QTest>
#include <QWheelEvent>

#include "base/file.h"
#include "gui/widgets/what_if/what_if_panel.h"
#include "gui/widgets/what_if/yaml_editor.h"
#include "tests/gui/widgets/window.h"

/// Fields, keys and dialogs as a user operates them.
namespace debubble::gui {
namespace {

TEST_F(Window, undo_works_in_a_number_field_and_the_field_follows) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    QLineEdit* tensor = field("parallel.tensor")->lineEdit();
    tensor->setFocus();
    ASSERT_TRUE(settles_after([&] {
        tensor->selectAll();
        QTest::keyClicks(tensor, "4");
    }));
    const QString changed = text();
    ASSERT_TRUE(settles_after([&] { QTest::keyClick(tensor, Qt::Key_Z, Qt::ControlModifier); }));
    EXPECT_NE(text(), changed);
    EXPECT_EQ(tensor->text(), "2");
}

TEST_F(Window, a_number_field_that_is_left_without_a_number_shows_the_texts_again) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    QLineEdit* tensor = field("parallel.tensor")->lineEdit();
    tensor->setFocus();
    tensor->selectAll();
    QTest::keyClick(tensor, Qt::Key_Delete);
    ASSERT_EQ(tensor->text(), "");
    QFocusEvent left(QEvent::FocusOut);
    QApplication::sendEvent(tensor, &left);
    EXPECT_EQ(tensor->text(), "2");
}

TEST_F(Window, the_panel_shows_what_the_text_says_even_if_it_is_impossible) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    auto* editor = window->findChild<YamlEditor*>();
    ASSERT_TRUE(
        settles_after([&] { editor->setPlainText(text().replace("tensor: 2", "tensor: 3")); }));
    EXPECT_FALSE(window->message().isEmpty());
    EXPECT_EQ(field("parallel.tensor")->currentText(), "3");
}

TEST_F(Window, a_value_that_is_refused_leaves_the_field_as_the_text_is) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    auto* editor = window->findChild<YamlEditor*>();
    ASSERT_TRUE(settles_after([&] { editor->setPlainText(text() + "\nx: [1\n"); }));
    const QString before = field("training.recompute")->currentText();
    choose("training.recompute", "none");  // which no valid YAML can contain
    EXPECT_EQ(field("training.recompute")->currentText(), before);
}

TEST_F(Window, a_schedule_in_v_shape_is_chosen_and_undone_in_one_step) {
    const QString file = folder.filePath("one.yaml");
    write_file(file.toStdString(), "include: gpt2-xl\nparallel: {stages_per_rank: 1}\n");
    ASSERT_TRUE(opens({file}));
    const QString before = text();
    ASSERT_TRUE(settles_after([&] { choose("schedule", "zb-v"); }));
    EXPECT_EQ(window->message(), "");
    EXPECT_EQ(field("parallel.stages_per_rank")->currentText(), "2");
    ASSERT_TRUE(settles_after([&] { window->session().undo(); }));
    EXPECT_EQ(text(), before);
}

TEST_F(Window, tab_goes_only_to_what_can_be_seen) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    window->activateWindow();
    QApplication::processEvents();  // the fields are shown by an event
    field("parallel.tensor")->setFocus();
    const QWidget* const first = QApplication::focusWidget();
    std::set<const QWidget*> seen;
    for (QWidget* at = QApplication::focusWidget(); at != nullptr && seen.insert(at).second;
         at = QApplication::focusWidget()) {
        for (const QWidget* parent = at; parent != nullptr; parent = parent->parentWidget())
            if (const auto* dock = qobject_cast<const QDockWidget*>(parent)) {
                EXPECT_FALSE(dock->visibleRegion().isEmpty())
                    << at->objectName().toStdString() << " in " << dock->objectName().toStdString();
            }
        QTest::keyClick(at, Qt::Key_Tab);
    }
    EXPECT_EQ(QApplication::focusWidget(), first) << "Tab goes round";
    EXPECT_GT(seen.size(), 10);
}

TEST_F(Window, tab_leaves_every_text_and_types_nothing) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    for (const QPlainTextEdit* editor : window->findChildren<QPlainTextEdit*>())
        EXPECT_TRUE(editor->tabChangesFocus()) << editor->objectName().toStdString();
}

TEST_F(Window, a_file_name_without_an_ending_gets_that_of_the_chosen_format) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    QTimer poll;
    QObject::connect(&poll, &QTimer::timeout, [&] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (dialog == nullptr) return;
        poll.stop();
        const QStringList filters = dialog->nameFilters();
        const auto pdf = filters.filter("*.pdf");
        EXPECT_EQ(pdf.size(), 1);
        dialog->selectNameFilter(pdf[0]);
        Q_EMIT dialog->filterSelected(pdf[0]);
        dialog->setDirectory(folder.path());
        dialog->findChild<QLineEdit*>("fileNameEdit")->setText(folder.filePath("plan"));
        static_cast<QDialog*>(dialog)->accept();
    });
    poll.start(10);
    window->choose_export();
    EXPECT_TRUE(read_file(folder.filePath("plan.pdf").toStdString()).starts_with("%PDF"));
}

void turn_wheel(QWidget* over, int steps) {
    const QPointF middle(over->width() / 2.0, over->height() / 2.0);
    QWheelEvent event(middle, over->mapToGlobal(middle), {}, QPoint(0, 120 * steps), Qt::NoButton,
                      Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(over, &event);
}

TEST_F(Window, the_wheel_scrolls_the_fields_and_changes_none) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    window->resize(1000, 500);
    auto* panel = window->findChild<WhatIfPanel*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return panel->verticalScrollBar()->maximum() > 0; }));
    const QString before = text();
    turn_wheel(panel->viewport(), -2);
    const int down = panel->verticalScrollBar()->value();
    EXPECT_GT(down, 0);
    turn_wheel(field("parallel.tensor"), -1);
    QApplication::processEvents();
    EXPECT_EQ(text(), before) << "a box without focus passes the wheel on";
    turn_wheel(panel->verticalScrollBar(), 4);
    EXPECT_LT(panel->verticalScrollBar()->value(), down);
}

TEST_F(Window, a_field_that_cannot_apply_is_not_shown) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    QApplication::processEvents();  // the fields are shown by an event
    EXPECT_TRUE(field("parallel.tensor")->isVisibleTo(window.get()));
    EXPECT_EQ(field("parallel.expert"), nullptr) << "GPT-2 has no experts";
    std::vector<std::string> shown;
    for (const char* key :
         {"model", "cluster", "gpus", "schedule", "parallel.tensor", "parallel.pipeline",
          "parallel.context", "parallel.data", "training.micro_batch", "training.recompute"})
        shown.emplace_back(key);
    for (std::size_t i = 1; i < shown.size(); ++i) {
        const auto top = [&](const std::string& key) {
            return field(key.c_str())->mapTo(window.get(), QPoint()).y();
        };
        EXPECT_LT(top(shown[i - 1]), top(shown[i])) << shown[i - 1] << " before " << shown[i];
    }
}

TEST_F(Window, a_schedule_whose_whole_name_is_typed_is_taken) {
    ASSERT_TRUE(opens({"gpt2-xl-interleaved-1f1b"}));
    QComboBox* box = field("schedule");
    box->setFocus();
    ASSERT_TRUE(settles_after([&] { QTest::keyClicks(box, "1f1b"); }));
    EXPECT_EQ(field("schedule")->currentText(), "1f1b") << "and not 1f1b-v";
}

}  // namespace
}  // namespace debubble::gui
