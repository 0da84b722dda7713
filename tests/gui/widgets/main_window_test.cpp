#include "gui/widgets/main_window.h"

#include <ctime>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDoubleSpinBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFontInfo>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QTreeWidget>

#include "base/file.h"
#include "gui/viewmodel/export.h"
#include "gui/widgets/run/run_panel.h"
#include "gui/widgets/sweep/scatter_view.h"
#include "gui/widgets/sweep/sweep_panel.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/what_if/yaml_editor.h"

namespace debubble::gui {
namespace {

constexpr int kDeadline = 30'000;  ///< ms; a prediction under a sanitizer on a busy machine

TEST(Fonts, are_those_that_pixels_are_compared_with) {
    EXPECT_EQ(QFontInfo(QFont("DejaVu Sans")).family(), "DejaVu Sans");
}

class Window : public testing::Test {
protected:
    void SetUp() override {
        QSettings().clear();
        window = std::make_unique<MainWindow>();
        window->resize(1400, 900);
        window->show();
    }

    /// Runs `act` and waits until the window has answered to it.
    template <class Act>
    bool settles_after(Act act) {
        QSignalSpy settled(window.get(), &MainWindow::settled);
        act();
        return !settled.isEmpty() || settled.wait(kDeadline);
    }
    bool opens(const QStringList& files) {
        return settles_after([&] { window->open_files(files); });
    }
    template <class T>
    T* part(const QString& name) {
        return window->findChild<T*>(name);
    }
    QComboBox* field(const QString& key) { return part<QComboBox>(key); }
    void choose(const QString& key, const QString& value) {
        const int at = field(key)->findText(value);
        field(key)->setCurrentIndex(at);
        Q_EMIT field(key)->activated(at);
    }
    const Layer& shown() { return window->findChild<TimelineView*>()->scene().main; }
    const Layer& ghost() { return window->findChild<TimelineView*>()->scene().other; }
    QString text() { return window->findChild<YamlEditor*>()->toPlainText(); }

    std::unique_ptr<MainWindow> window;
    QTemporaryDir folder;
};

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

TEST_F(Window, an_impossible_plan_is_explained_beside_the_field_and_the_timeline_stays) {
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
    const int at = schedules->findText("zb-h2");
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

TEST_F(Window, exports_the_timeline_in_every_format) {
    ASSERT_TRUE(opens({"gpt2-xl-zb-v"}));
    const std::pair<const char*, std::string> starts[]{{"a.svg", "<"},
                                                       {"a.png", "\x89PNG"},
                                                       {"a.pdf", "%PDF"},
                                                       {"a.csv", "rank,"},
                                                       {"a.json", "{"}};
    for (const auto& [name, start] : starts) {
        const QString file = folder.filePath(name);
        window->export_to(file);
        EXPECT_TRUE(read_file(file.toStdString()).starts_with(start)) << name;
    }
    window->export_to(folder.filePath("a.gif"));
    EXPECT_TRUE(window->message().contains(".svg"));
}

TEST_F(Window, what_was_not_saved_is_offered_after_a_crash) {
    const UnsavedFolder left(
        QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation).toStdString());
    ASSERT_TRUE(opens({"gpt2-xl"}));
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));
    window->close();  // keeps what is not saved
    const std::filesystem::path place =
        QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation).toStdString();
    for (const auto& file : std::filesystem::directory_iterator(place))
        if (file.path().filename().string().starts_with("unsaved-"))
            // As if written by a process that is gone.
            std::filesystem::rename(file.path(), place / "unsaved-2147483646.json");
    window = std::make_unique<MainWindow>();
    window->show();
    ASSERT_TRUE(settles_after([&] { window->open({}); }));
    ASSERT_TRUE(window->message().contains("not saved"));
    const auto buttons = window->findChild<QWidget*>("messages")->findChildren<QToolButton*>();
    ASSERT_TRUE(settles_after([&] {
        for (QToolButton* button : buttons)
            if (button->text().startsWith("Take")) button->click();
    }));
    EXPECT_TRUE(text().contains("schedule: gpipe"));
    EXPECT_TRUE(window->isWindowModified());
    EXPECT_FALSE(left.find_left());
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

TEST_F(Window, a_click_on_a_point_of_a_sweep_shows_that_plan) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    auto* sweep = window->findChild<SweepPanel*>();
    part<QPlainTextEdit>("sweep-grid")
        ->setPlainText("parallel.pipeline: [1, 2, 3, 4]\nschedule: [1f1b, gpipe]");
    QSignalSpy finished(sweep, &SweepPanel::finished);
    part<QPushButton>("sweep-start")->click();
    ASSERT_TRUE(!finished.isEmpty() || finished.wait(kDeadline));
    const SweepTable& table = sweep->table();
    ASSERT_EQ(table.rows().size(), 8);

    auto* plot = window->findChild<ScatterView*>();
    const auto rows = table.order(table.columns().size(), false, "fits 4 gpipe");
    ASSERT_EQ(rows.size(), 1);
    auto points = points_of(table, rows, table.column_of("peak_memory_bytes"),
                            table.column_of("tokens_per_s"));
    points[0].x /= kGiB;  // as the plot's axis
    plot->resize(400, 300);
    ASSERT_TRUE(settles_after(
        [&] { QTest::mouseClick(plot, Qt::LeftButton, {}, plot->place(points[0]).toPoint()); }));
    EXPECT_EQ(field("parallel.pipeline")->currentText(), "4");
    EXPECT_EQ(field("schedule")->currentText(), "gpipe");
    EXPECT_EQ(shown().document->devices.size(), 4);
}

TEST(Scatter, of_ten_thousand_points_paints_those_that_fit_and_those_that_do_not) {
    std::vector<PlotPoint> points;
    for (std::size_t i = 0; i < 10'000; ++i)
        points.push_back({i, double(i * 7919 % 10'007), double(i * 104'729 % 9973), i % 3 == 0});
    ScatterView plot;
    plot.resize(800, 500);
    plot.show_points(points, {"x", Better::Less, 1}, {"y", Better::More, 1});
    std::vector<double> took;
    QImage image(plot.size(), QImage::Format_RGB32);
    for (int i = 0; i < 9; ++i) {
        const std::clock_t begun = std::clock();
        plot.render(&image);
        took.push_back(1e3 * double(std::clock() - begun) / CLOCKS_PER_SEC);
    }
    const double first = took.front();
    std::ranges::sort(took);
    fmt::print("a plot of 10,000 points: {:.1f} ms of the processor at first, then {:.1f}\n", first,
               took[4]);
    std::size_t fitting = 0;
    std::size_t crosses = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) {
            fitting += image.pixelColor(x, y) == QColor(0x2F6FB5) ? 1 : 0;
            crosses += image.pixelColor(x, y) == QColor(0xB3261E) ? 1 : 0;
        }
    EXPECT_GT(fitting, 20'000U);  // 3334 squares of 16 pixels, some behind others
    EXPECT_GT(crosses, 10'000U);
}

TEST_F(Window, a_mistake_in_the_grid_is_told_in_the_strip) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    auto* sweep = window->findChild<SweepPanel*>();
    part<QPlainTextEdit>("sweep-grid")->setPlainText("parallel.tensr: [1, 2]");
    QSignalSpy finished(sweep, &SweepPanel::finished);
    part<QPushButton>("sweep-start")->click();
    ASSERT_TRUE(!finished.isEmpty() || finished.wait(kDeadline));
    EXPECT_TRUE(window->message().contains("tensr"));
    bool told = false;  // beside the grid as well
    for (const QLabel* label : sweep->findChildren<QLabel*>())
        told = told || label->text().contains("tensr");
    EXPECT_TRUE(told);
}

TEST_F(Window, two_traces_lie_beside_each_other_with_their_errors) {
    const QString a = folder.filePath("a.json");
    const QString b = folder.filePath("b.json");
    write_file(a.toStdString(), exported(read_exhibit("gpt2-xl", {}), ExportFormat::Json));
    write_file(b.toStdString(), exported(read_exhibit("gpt2-xl", {}), ExportFormat::Json));
    ASSERT_TRUE(opens({a, b}));
    EXPECT_TRUE(window->findChild<TimelineView*>()->scene().comparison);
    EXPECT_TRUE(part<QPlainTextEdit>("compare-text")->toPlainText().contains("step time"));
}

TEST_F(Window, another_pair_is_compared_as_the_boxes_say) {
    const std::string step = exported(read_exhibit("gpt2-xl", {}), ExportFormat::Json);
    QStringList files;
    for (const char* name : {"a.json", "b.json", "c.json"}) {
        files << folder.filePath(name);
        write_file(files.back().toStdString(), step);
    }
    ASSERT_TRUE(opens({files[0], files[1]}));
    auto* alignment = part<QComboBox>("compare-alignment");
    alignment->setCurrentIndex(1);
    Q_EMIT alignment->activated(1);
    part<QDoubleSpinBox>("compare-threshold")->setValue(5);
    ASSERT_TRUE(opens({files[0], files[2]}));
    EXPECT_EQ(part<QDoubleSpinBox>("compare-threshold")->value(), 5);
    const ComparisonChoices& choices = window->findChild<TimelineView*>()->state().comparison;
    EXPECT_DOUBLE_EQ(choices.threshold, 0.05);
    EXPECT_EQ(choices.alignment, Alignment::OptimizerStep);
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

TEST_F(Window, a_plan_lies_above_the_pinned_one_with_all_figures_of_both) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    const Document pinned = shown().document;
    window->session().pin(true);
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));
    const Document changed = shown().document;
    ASSERT_TRUE(settles_after([&] { window->compare_plans(); }));
    const Scene& scene = window->findChild<TimelineView*>()->scene();
    ASSERT_TRUE(scene.comparison);
    EXPECT_EQ(scene.main.document, changed);
    EXPECT_EQ(scene.other.document, pinned);
    auto* figures = part<QTreeWidget>("compare-figures");
    for (const char* name : {"step time", "throughput", "MFU", "bubble", "memory"}) {
        const auto rows = figures->findItems(name, Qt::MatchExactly);
        ASSERT_EQ(rows.size(), 1) << name;
        EXPECT_FALSE(rows[0]->text(1).isEmpty());
        EXPECT_FALSE(rows[0]->text(2).isEmpty());
    }
    window->show_current_plan();
    EXPECT_FALSE(scene.comparison);
    EXPECT_EQ(ghost().document, pinned);
}

TEST_F(Window, the_colours_of_a_comparison_are_not_remembered_as_the_plans) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    auto* timeline = window->findChild<TimelineView*>();
    timeline->set_colour_by(ColourBy::Stage);
    window->session().pin(true);
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));
    ASSERT_TRUE(settles_after([&] { window->compare_plans(); }));
    part<QCheckBox>("compare-by-error")->setChecked(true);
    ASSERT_EQ(timeline->state().colour_by, ColourBy::Error);
    ASSERT_TRUE(opens({"gpt2-xl-zb-h1"}));
    ASSERT_TRUE(opens({"gpt2-xl"}));
    EXPECT_EQ(timeline->state().colour_by, ColourBy::Stage);
}

TEST_F(Window, a_click_on_a_worst_action_brings_it_to_the_middle_and_selects_it) {
    Exhibit step = read_exhibit("gpt2-xl", {});
    const QString a = folder.filePath("a.json");
    const QString b = folder.filePath("b.json");
    write_file(a.toStdString(), exported(step, ExportFormat::Json));
    const auto late = std::ranges::find(step.trace.spans, "1B100",
                                        [](const Span& span) { return to_text(span.action); });
    ASSERT_NE(late, step.trace.spans.end());
    late->end += std::chrono::microseconds(200);
    write_file(b.toStdString(), exported(step, ExportFormat::Json));
    ASSERT_TRUE(opens({a, b}));
    auto* errors = part<QTreeWidget>("compare-errors");
    ASSERT_EQ(errors->topLevelItemCount(), 2);  // by kind, by stage
    EXPECT_EQ(errors->topLevelItem(0)->child(0)->text(0), "F");
    EXPECT_EQ(errors->topLevelItem(1)->child(1)->text(0), "stage 1");
    auto* worst = part<QTreeWidget>("compare-worst");
    ASSERT_GE(worst->topLevelItemCount(), 1);
    EXPECT_EQ(worst->topLevelItem(0)->text(0), "1B100");

    auto* timeline = window->findChild<TimelineView*>();
    ViewState near = timeline->state();
    near.axis.zoom(20, 0);
    timeline->set_state(near);
    Q_EMIT worst->itemClicked(worst->topLevelItem(0), 0);
    const auto* ref = std::get_if<SpanRef>(&timeline->state().selection);
    ASSERT_NE(ref, nullptr);
    EXPECT_EQ(to_text(shown().document->span(ref->index).action), "1B100");
    const TimeRange of = shown().on_axis(shown().document->span(ref->index));
    const double middle = timeline->state().axis.x(of.begin + of.length() / 2);
    EXPECT_NEAR(middle, timeline->state().axis.width() / 2, 2);
}

TEST_F(Window, the_cost_of_an_action_is_broken_down_into_its_operators) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    part<QLineEdit>("search")->setText("1F7");
    auto* rows = part<QTreeWidget>("details-rows");
    const auto cost = rows->findItems("cost", Qt::MatchExactly);
    ASSERT_EQ(cost.size(), 1);
    ASSERT_GT(cost[0]->childCount(), 5);
    EXPECT_TRUE(cost[0]->isExpanded());
    QTreeWidgetItem* longest = cost[0]->child(0);
    QStringList explained;
    for (int i = 0; i < longest->childCount(); ++i) explained << longest->child(i)->text(0);
    EXPECT_TRUE(explained.contains("formula"));
    // What is opened stays open while the view moves.
    longest->setExpanded(true);
    window->findChild<TimelineView*>()->zoom_in();
    EXPECT_EQ(rows->findItems("cost", Qt::MatchExactly)[0]->child(0), longest);
    EXPECT_TRUE(longest->isExpanded());
}

TEST_F(Window, the_details_let_a_plan_go_when_traces_are_opened) {
    const QString trace = folder.filePath("a.json");
    write_file(trace.toStdString(), exported(read_exhibit("gpt2-xl", {}), ExportFormat::Json));
    ASSERT_TRUE(opens({"gpt2-xl"}));
    part<QLineEdit>("search")->setText("1F7");  // its cost is worked out
    const std::weak_ptr<const Plan> plan = window->session().answer().plan;
    const std::weak_ptr<const TimelineDocument> document = plan.lock()->document;
    const long plan_users = plan.use_count();
    const long document_users = document.use_count();
    ASSERT_TRUE(opens({trace}));
    EXPECT_EQ(plan.use_count(), plan_users - 1);          // not of the details
    EXPECT_EQ(document.use_count(), document_users - 2);  // nor of the timeline
}

TEST_F(Window, remembers_how_each_file_was_looked_at) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    auto* timeline = window->findChild<TimelineView*>();
    ViewState looked = timeline->state();
    looked.axis.zoom(4, 100);
    looked.rows = {{1}, {}, {0}, {3}};
    looked.colour_by = ColourBy::Stage;
    timeline->set_state(looked);
    ASSERT_TRUE(opens({"gpt2-xl-zb-h1"}));
    EXPECT_EQ(timeline->state().axis.shown(), shown().range());
    EXPECT_EQ(timeline->state().rows, RowChoices{});
    ASSERT_TRUE(opens({"gpt2-xl"}));
    EXPECT_EQ(timeline->state().rows, looked.rows);
    EXPECT_EQ(timeline->state().axis.shown(), looked.axis.shown());
    EXPECT_EQ(timeline->state().colour_by, ColourBy::Stage);

    window->close();  // and over the next start
    window = std::make_unique<MainWindow>();
    window->resize(1400, 900);
    window->show();
    ASSERT_TRUE(opens({"gpt2-xl"}));
    EXPECT_EQ(window->findChild<TimelineView*>()->state().rows, looked.rows);
}

TEST_F(Window, opens_a_file_whose_remembered_view_is_damaged) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    window->close();
    QSettings settings;
    for (const QString& key : settings.value("views/order").toStringList())
        settings.setValue("views/" + key, "{\"shown\": [\xff");
    settings.sync();
    window = std::make_unique<MainWindow>();
    window->show();
    ASSERT_TRUE(opens({"gpt2-xl"}));
    EXPECT_EQ(window->findChild<TimelineView*>()->state().axis.shown(), shown().range());
}

TEST_F(Window, fits_a_screen_of_1440_by_900) {
    EXPECT_LE(window->minimumSizeHint().width(), 1424);
    EXPECT_LE(window->minimumSizeHint().height(), 852);
}

TEST_F(Window, a_page_of_pdf_holds_shapes_and_text_and_a_picture_is_wide) {
    ASSERT_TRUE(opens({"gpt2-xl-zb-h1"}));
    const QString pdf = folder.filePath("plan.pdf");
    window->export_to(pdf);
    // A few bars as shapes take no image; those of a zoomed-out long plan would.
    EXPECT_EQ(read_file(pdf.toStdString()).find("/Subtype /Image"), std::string::npos);
    const QString png = folder.filePath("plan.png");
    window->export_to(png);
    EXPECT_EQ(QImage(png).width(), 2 * 1920);
}

TEST_F(Window, colours_are_chosen_in_the_menu) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    const auto* timeline = window->findChild<TimelineView*>();
    const auto command = [&](const QString& text) {
        for (QAction* action : window->actions())
            if (action->text().remove('&') == text) return action;
        return static_cast<QAction*>(nullptr);
    };
    ASSERT_NE(command("Colour by stage"), nullptr);
    command("Colour by stage")->trigger();
    EXPECT_EQ(timeline->state().colour_by, ColourBy::Stage);
    EXPECT_TRUE(command("Colour by stage")->isChecked());
    EXPECT_FALSE(command("Colour by kind")->isChecked());
}

TEST_F(Window, a_run_is_watched_and_laid_beside_its_prediction) {
    const std::string programs = QCoreApplication::applicationDirPath().toStdString();
    for (const char* program : {"/debubble", "/debubble-exec"})
        if (!std::filesystem::exists(programs + program))
            GTEST_SKIP() << programs << program << " is not built";
    const QString plan = folder.filePath("plan.yaml");
    write_file(plan.toStdString(),
               "include: two-rank-gpt\ntraining: {seq_length: 64, data: {text: " DEBUBBLE_SOURCE_DIR
               "/scenarios/data/tales.txt}}\n");
    ASSERT_TRUE(opens({plan}));
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));  // not what the file says
    auto* run = window->findChild<RunPanel*>();
    part<QSpinBox>("run-steps")->setValue(3);
    QSignalSpy failed(run, &RunPanel::failed);
    QSignalSpy settled(window.get(), &MainWindow::settled);
    window->execute();
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return !settled.isEmpty() || !failed.isEmpty(); }, 2 * kDeadline))
        << part<QPlainTextEdit>("run-log")->toPlainText().toStdString();
    ASSERT_TRUE(failed.isEmpty()) << failed[0][0].toString().toStdString();
    EXPECT_EQ(run->steps().size(), 3);
    const Scene& scene = window->findChild<TimelineView*>()->scene();
    EXPECT_TRUE(scene.comparison);
    EXPECT_EQ(scene.main.document->trace.header.source, "simulated");
    EXPECT_EQ(scene.other.document->trace.header.source, "executed");
    EXPECT_EQ(scene.main.document->trace.header.program_hash,
              scene.other.document->trace.header.program_hash);
    EXPECT_TRUE(part<QPlainTextEdit>("compare-text")->toPlainText().contains("executed"));
}

TEST_F(Window, a_run_that_cannot_be_says_why_in_the_strip) {
    if (!std::filesystem::exists(QCoreApplication::applicationDirPath().toStdString() +
                                 "/debubble"))
        GTEST_SKIP() << "debubble is not built";
    ASSERT_TRUE(opens({"two-rank-gpt"}));  // it names no data
    QSignalSpy failed(window->findChild<RunPanel*>(), &RunPanel::failed);
    window->execute();
    ASSERT_TRUE(!failed.isEmpty() || failed.wait(kDeadline));
    EXPECT_TRUE(window->message().contains("error: ")) << window->message().toStdString();
}

TEST_F(Window, a_launch_command_that_is_not_there_is_named) {
    ASSERT_TRUE(opens({"two-rank-gpt"}));
    part<QLineEdit>("run-launch")->setText("no-such-launcher -n 2");
    QSignalSpy failed(window->findChild<RunPanel*>(), &RunPanel::failed);
    window->execute();
    ASSERT_TRUE(!failed.isEmpty() || failed.wait(kDeadline));
    EXPECT_TRUE(window->message().contains("no-such-launcher"));
}

TEST_F(Window, everything_that_takes_keys_has_a_name_for_who_cannot_see_it) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    for (const QComboBox* box : window->findChildren<QComboBox*>())
        EXPECT_FALSE(box->accessibleName().isEmpty()) << box->objectName().toStdString();
    for (const QAction* action : window->actions()) EXPECT_FALSE(action->text().isEmpty());
}

}  // namespace
}  // namespace debubble::gui
