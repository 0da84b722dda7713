#include "gui/widgets/main_window.h"

#include <chrono>

#include <fmt/format.h>
#include <QAction>
#include <QDialog>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFontInfo>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QTest>
#include <QToolButton>
#include <QTreeWidget>

#include "base/file.h"
#include "gui/viewmodel/export.h"
#include "gui/widgets/colours.h"
#include "tests/gui/widgets/window.h"

namespace debubble::gui {
namespace {

TEST(Fonts, are_those_that_pixels_are_compared_with) {
    EXPECT_EQ(QFontInfo(QFont("DejaVu Sans")).family(), "DejaVu Sans");
}

TEST_F(Window, shows_the_scenario_that_was_opened) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    EXPECT_TRUE(window->windowTitle().startsWith("gpt2-xl"));
    EXPECT_EQ(shown().document->trace.header.scenario, "gpt2-xl");
    EXPECT_EQ(field("parallel.tensor")->currentText(), "2");
    EXPECT_TRUE(text().contains("schedule: 1f1b"));
}

TEST_F(Window, a_changed_field_changes_text_and_timeline_and_leaves_a_ghost) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    const Document before = shown().document;
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));
    EXPECT_TRUE(text().contains("schedule: gpipe"));
    EXPECT_NE(shown().document, before);
    EXPECT_EQ(ghost().document, before);
    EXPECT_TRUE(part<QLabel>("delta")->text().contains("step"));
}

TEST(Colours, placeholders_are_legible_where_the_systems_are_not) {
    const QPalette before = QApplication::palette();
    QPalette dark = before;
    dark.setColor(QPalette::Text, Qt::white);
    dark.setColor(QPalette::Base, Qt::black);
    dark.setColor(QPalette::PlaceholderText, QColor(0, 0, 0, 128));
    QApplication::setPalette(dark);
    make_placeholders_legible();
    const QPalette made = QApplication::palette();
    EXPECT_EQ(made.color(QPalette::PlaceholderText), QColor(255, 255, 255, 128));
    EXPECT_EQ(made.color(QPalette::Base), QColor(Qt::black)) << "the rest stays";
    QApplication::setPalette(before);
    make_placeholders_legible();
    EXPECT_EQ(QApplication::palette(), before) << "Qt's own are";
}

TEST_F(Window, typing_in_the_text_changes_the_fields) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    auto* editor = window->findChild<YamlEditor*>();
    ASSERT_TRUE(settles_after(
        [&] { editor->setPlainText(text().replace("schedule: 1f1b", "schedule: zb-h1")); }));
    EXPECT_EQ(field("schedule")->currentText(), "zb-h1");
}

TEST_F(Window, undo_brings_the_plan_before_back_and_redo_the_later_one) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    const QString before = text();
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));
    ASSERT_TRUE(
        settles_after([&] { QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier); }));
    EXPECT_EQ(text(), before);
    EXPECT_EQ(field("schedule")->currentText(), "1f1b");
    ASSERT_TRUE(
        settles_after([&] { QTest::keyClick(window.get(), Qt::Key_Y, Qt::ControlModifier); }));
    EXPECT_EQ(field("schedule")->currentText(), "gpipe");
}

TEST_F(Window, an_impossible_plan_is_explained_next_to_the_field_and_the_timeline_stays) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    const Document before = shown().document;
    QLineEdit* tensor = field("parallel.tensor")->lineEdit();
    ASSERT_TRUE(settles_after([&] {
        tensor->selectAll();
        QTest::keyClicks(tensor, "3");
    }));
    EXPECT_EQ(shown().document, before);
    EXPECT_FALSE(window->message().isEmpty());
    int explained = 0;
    for (const QLabel* label : window->findChildren<QLabel*>())
        if (label->objectName().startsWith("complaint:") && label->isVisibleTo(window.get())) {
            ++explained;
            EXPECT_EQ(label->objectName(), "complaint:parallel.tensor");
            EXPECT_TRUE(label->text().contains("3")) << label->text().toStdString();
        }
    EXPECT_EQ(explained, 1);
    ASSERT_TRUE(settles_after([&] { window->session().undo(); }));
    EXPECT_TRUE(window->message().isEmpty());
}

TEST_F(Window, impossible_schedules_are_grey_and_say_why) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    ASSERT_TRUE(settles_after([&] {
        field("training.micro_batches")->lineEdit()->selectAll();
        QTest::keyClicks(field("training.micro_batches")->lineEdit(), "1");
    }));
    QComboBox* schedules = field("schedule");
    const int at = schedules->findText("dualpipe");
    ASSERT_GE(at, 0);
    const QModelIndex row = schedules->model()->index(at, 0);
    EXPECT_FALSE(row.flags() & Qt::ItemIsEnabled);
    EXPECT_TRUE(schedules->itemData(at, Qt::ToolTipRole).toString().contains("microbatches"));
}

TEST_F(Window, a_pinned_plan_stays_the_reference) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    const Document first = shown().document;
    window->session().pin(true);
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));
    ASSERT_TRUE(settles_after([&] { choose("schedule", "zb-h1"); }));
    EXPECT_EQ(ghost().document, first);
}

TEST_F(Window, saves_the_text_as_it_is_shown) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));
    EXPECT_TRUE(window->isWindowModified());
    const QString file = folder.filePath("mine.yaml");
    EXPECT_TRUE(window->save_to(file));
    EXPECT_FALSE(window->isWindowModified());
    EXPECT_EQ(read_file(file.toStdString()), text().toStdString());
    EXPECT_EQ(QSettings().value("files/recent").toStringList().front(), file);
}

TEST_F(Window, a_file_that_cannot_be_read_is_named_in_the_strip) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    const Document before = shown().document;
    ASSERT_TRUE(opens({folder.filePath("missing.yaml")}));
    EXPECT_TRUE(window->message().contains("missing.yaml"));
    EXPECT_EQ(shown().document, before);
}

TEST_F(Window, opens_what_is_dropped_on_it) {
    const QString trace = folder.filePath("a.trace.json");
    write_file(trace.toStdString(), exported(read_exhibit("gpt2-xl", {}), ExportFormat::Json));
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(trace)});
    QDragEnterEvent enter({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &enter);
    ASSERT_TRUE(enter.isAccepted());
    ASSERT_TRUE(settles_after([&] {
        QDropEvent drop({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window.get(), &drop);
    }));
    EXPECT_TRUE(window->windowTitle().startsWith("a - "));
    EXPECT_GT(shown().document->trace.spans.size(), 0);
}

TEST_F(Window, a_trace_over_a_plan_has_no_ghost_and_undo_waits_until_the_plan_is_back) {
    const QString trace = folder.filePath("a.json");
    write_file(trace.toStdString(), exported(read_exhibit("gpt2-xl", {}), ExportFormat::Json));
    ASSERT_TRUE(opens({"gpt2-xl"}));
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));
    const Document changed = shown().document;
    ASSERT_TRUE(opens({trace}));
    EXPECT_FALSE(ghost());
    EXPECT_FALSE(command("Undo the what-if")->isEnabled());
    const QString before = text();
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(text(), before);
    EXPECT_TRUE(window->windowTitle().startsWith("a - ")) << window->windowTitle().toStdString();

    QTest::keyClick(window.get(), Qt::Key_1, Qt::ControlModifier);
    EXPECT_EQ(shown().document, changed);
    EXPECT_TRUE(ghost());
    EXPECT_TRUE(window->windowTitle().startsWith("gpt2-xl"));
    EXPECT_TRUE(command("Undo the what-if")->isEnabled());
    QTest::keyClick(window.get(), Qt::Key_3, Qt::ControlModifier);
    EXPECT_TRUE(window->windowTitle().startsWith("a - "));
    EXPECT_FALSE(ghost());
}

TEST_F(Window, the_place_of_a_mistake_in_a_trace_is_not_looked_for_in_the_scenario) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    const QString trace = folder.filePath("damaged.json");
    write_file(trace.toStdString(), "{\"traceEvents\": [\n {\"ph\": }\n]}\n");
    ASSERT_TRUE(opens({trace}));
    EXPECT_TRUE(window->message().contains("at byte")) << window->message().toStdString();
    const auto offers_place = [&] {
        for (const QToolButton* button :
             window->findChild<QWidget*>("messages")->findChildren<QToolButton*>())
            if (button->text() == "Show the place" && button->isVisibleTo(window.get()))
                return true;
        return false;
    };
    EXPECT_FALSE(offers_place());
    ASSERT_TRUE(settles_after(
        [&] { window->findChild<YamlEditor*>()->setPlainText(text().replace("1f1b", "2f2b")); }));
    EXPECT_TRUE(offers_place());
}

TEST_F(Window, a_scenario_that_is_impossible_shows_nothing_of_the_one_before) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    const QString file = folder.filePath("broken.yaml");
    write_file(file.toStdString(), "include: gpt2-xl\nschedule: no-such\n");
    ASSERT_TRUE(opens({file}));
    EXPECT_TRUE(window->windowTitle().startsWith("broken"));
    EXPECT_FALSE(shown());
    window->export_to(folder.filePath("nothing.csv"));
    EXPECT_TRUE(window->message().contains("nothing is open"));
}

TEST_F(Window, starts_whatever_the_settings_file_holds) {
    const std::string file = QSettings().fileName().toStdString();
    window->close();
    for (const char* content : {"[window\ngeometry=@ByteArray(\\xff\ndocks=7", "\x01\x02\x03",
                                "[window]\ngeometry=@Invalid()\ndocks=@ByteArray(nonsense)\n"}) {
        write_file(file, content);
        MainWindow another;
        another.show();
        EXPECT_TRUE(another.isVisible());
    }
}

TEST_F(Window, finds_a_command_by_some_of_its_letters) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));
    window->show_commands();
    auto* wanted = window->findChild<QDialog*>("commands")->findChild<QLineEdit*>();
    ASSERT_TRUE(settles_after([&] {
        QTest::keyClicks(wanted, "undo");
        QTest::keyClick(wanted, Qt::Key_Return);
    }));
    EXPECT_EQ(field("schedule")->currentText(), "1f1b");
}

TEST_F(Window, shows_what_a_bubble_waits_for_by_commands_that_the_list_has) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    auto* rows = part<QTreeWidget>("details-rows");
    const auto waits_for_a_stage = [&] {
        return rows->topLevelItemCount() > 3 &&
               rows->topLevelItem(0)->text(1).startsWith("waits for stage 1");
    };
    // Those before it are of the first messages, which block.
    for (int bubble = 0; bubble < 16 && !waits_for_a_stage(); ++bubble)
        command("Next bubble")->trigger();
    ASSERT_TRUE(waits_for_a_stage());
    QStringList names;
    for (int i = 0; i < rows->topLevelItemCount(); ++i) names << rows->topLevelItem(i)->text(0);
    EXPECT_TRUE(names.contains("ended by") && names.contains("duration"));
    command("Go to what ends the bubble")->trigger();
    EXPECT_EQ(rows->topLevelItem(0)->text(1), "1B0");
    command("Previous bubble")->trigger();
    EXPECT_EQ(rows->topLevelItem(0)->text(0), "bubble");
}

/// The time itself is the machine's affair: it is printed, and in docs/benchmarks.md.
TEST_F(Window, a_plan_of_gpt3_is_painted_after_the_last_key) {
    ASSERT_TRUE(opens({"gpt3-175b"}));
    auto* timeline = window->findChild<TimelineView*>();
    std::vector<double> took;
    for (const char* batch : {"72", "80", "88", "96", "104", "112", "120"}) {
        const Document before = shown().document;
        QLineEdit* box = field("training.global_batch")->lineEdit();
        const auto begun = std::chrono::steady_clock::now();
        ASSERT_TRUE(settles_after([&] {
            box->selectAll();
            QTest::keyClicks(box, batch);
        }));
        timeline->viewport()->repaint();
        took.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun)
                .count());
        EXPECT_NE(shown().document, before);
    }
    std::ranges::sort(took);
    fmt::print("from the key to the paint: {:.0f} to {:.0f} ms, median {:.0f} ms\n", took.front(),
               took.back(), took[took.size() / 2]);
}

TEST_F(Window, fits_a_screen_of_1440_by_900) {
    EXPECT_LE(window->minimumSizeHint().width(), 1424);
    EXPECT_LE(window->minimumSizeHint().height(), 852);
}

TEST_F(Window, everything_that_takes_keys_has_a_name_for_who_cannot_see_it) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    for (const QComboBox* box : window->findChildren<QComboBox*>())
        EXPECT_FALSE(box->accessibleName().isEmpty()) << box->objectName().toStdString();
    for (const QAction* action : window->actions()) EXPECT_FALSE(action->text().isEmpty());
}

}  // namespace
}  // namespace debubble::gui
