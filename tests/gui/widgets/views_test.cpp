#include <chrono>
#include <ctime>

#include <fmt/format.h>
#include <QAction>
#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTest>
#include <QToolButton>
#include <QTreeWidget>

#include "base/file.h"
#include "gui/viewmodel/export.h"
#include "gui/widgets/bill/bill_panel.h"
#include "gui/widgets/sweep/scatter_view.h"
#include "gui/widgets/sweep/sweep_panel.h"
#include "gui/widgets/what_if/remedy_strip.h"
#include "tests/gui/widgets/window.h"

namespace debubble::gui {
namespace {

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
    points[0].x /= kGiB;  // like the plot's axis
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
    EXPECT_GT(fitting, 20'000U);  // 3334 squares of 16 pixels, some covered by others
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
    bool told = false;  // the grid shows it as well
    for (const QLabel* label : sweep->findChildren<QLabel*>())
        told = told || label->text().contains("tensr");
    EXPECT_TRUE(told);
}

TEST_F(Window, two_traces_are_compared_with_their_errors) {
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
    EXPECT_FALSE(answers("Discard", [&] { ASSERT_TRUE(opens({"gpt2-xl-zb-h1"})); }).isEmpty());
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
    // An opened row stays open while the view moves.
    longest->setExpanded(true);
    window->findChild<TimelineView*>()->zoom_in();
    EXPECT_EQ(rows->findItems("cost", Qt::MatchExactly)[0]->child(0), longest);
    EXPECT_TRUE(longest->isExpanded());
}

TEST_F(Window, the_details_let_a_plan_go_when_traces_are_opened) {
    const QString trace = folder.filePath("a.json");
    write_file(trace.toStdString(), exported(read_exhibit("gpt2-xl", {}), ExportFormat::Json));
    ASSERT_TRUE(opens({"gpt2-xl"}));
    part<QLineEdit>("search")->setText("1F7");  // whose cost is computed
    const std::weak_ptr<const PredictedPlan> plan = window->session().answer().plan;
    const std::weak_ptr<const TimelineDocument> document = plan.lock()->document;
    const long plan_users = plan.use_count();
    const long document_users = document.use_count();
    ASSERT_TRUE(opens({trace}));
    EXPECT_EQ(plan.use_count(), plan_users - 4);          // released by pages, details and screen
    EXPECT_EQ(document.use_count(), document_users - 3);  // and by the timeline and the overview
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
    EXPECT_EQ(timeline->state().rows, ViewState{}.rows);
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

TEST_F(Window, colours_are_chosen_in_the_menu) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    const auto* timeline = window->findChild<TimelineView*>();
    ASSERT_NE(command("Colour by stage"), nullptr);
    command("Colour by stage")->trigger();
    EXPECT_EQ(timeline->state().colour_by, ColourBy::Stage);
    EXPECT_TRUE(command("Colour by stage")->isChecked());
    EXPECT_FALSE(command("Colour by kind")->isChecked());
}

TEST_F(Window, a_click_is_answered_below_the_lanes_with_a_link_to_what_ends_the_wait) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    auto* timeline = window->findChild<TimelineView*>();
    auto* line = part<QLabel>("answer-line");
    EXPECT_TRUE(line->isVisible()) << "the lanes keep their height";
    timeline->next_bubble();
    const auto* bubble = std::get_if<BubbleRef>(&timeline->state().selection);
    ASSERT_NE(bubble, nullptr);
    EXPECT_TRUE(line->text().contains("Rank 0 waits"));
    const QString link = line->text().section("href=\"", 1).section('"', 0, 0);
    ASSERT_FALSE(link.isEmpty());
    Q_EMIT line->linkActivated(link);
    const auto* span = std::get_if<SpanRef>(&timeline->state().selection);
    ASSERT_NE(span, nullptr);
    EXPECT_EQ(span->index, link.section(':', 1).toUInt());
}

TEST_F(Window, what_a_change_did_stands_in_the_head_and_is_pale_while_another_is_asked_for) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));
    const Scene& scene = window->findChild<TimelineView*>()->scene();
    EXPECT_TRUE(QString::fromStdString(scene.change.words).startsWith("step "));
    EXPECT_FALSE(scene.stale);
    choose("schedule", "zb-h1");
    EXPECT_TRUE(scene.stale);
    ASSERT_TRUE(settles_after([] {}));
    EXPECT_FALSE(scene.stale);
}

TEST_F(Window, the_bill_is_made_when_it_is_seen) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    auto* bill = window->findChild<BillPanel*>();
    QSignalSpy ready(bill, &BillPanel::rows_ready);
    EXPECT_LT(bill->topLevelItemCount(), 2);
    command("Show where the step goes")->trigger();
    ASSERT_TRUE(!ready.isEmpty() || ready.wait(kDeadline));
    EXPECT_GT(bill->topLevelItemCount(), 6);
    EXPECT_EQ(bill->topLevelItem(0)->text(0), "model FLOPs at the peak rate");
    EXPECT_EQ(bill->topLevelItem(bill->topLevelItemCount() - 1)->text(0), "step");
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));
    ASSERT_TRUE(ready.wait(kDeadline)) << "another plan has another bill";
}

TEST_F(Window, a_plan_that_does_not_fit_has_remedies_that_a_click_takes) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    auto* strip = window->findChild<RemedyStrip*>();
    EXPECT_FALSE(strip->isVisible());
    QSignalSpy found(strip, &RemedyStrip::found);
    ASSERT_TRUE(settles_after([&] { window->session().set_field("cluster.gpu.memory", "8 GiB"); }));
    ASSERT_TRUE(!found.isEmpty() || found.wait(kDeadline));
    ASSERT_TRUE(strip->isVisible());
    const auto buttons = strip->findChildren<QToolButton*>();
    ASSERT_FALSE(buttons.isEmpty());
    ASSERT_TRUE(settles_after([&] { buttons[0]->click(); }));
    EXPECT_TRUE(window->session().answer().plan->prediction.fits);
    EXPECT_FALSE(strip->isVisible());
    ASSERT_TRUE(settles_after([&] { window->session().undo(); }));
    EXPECT_FALSE(window->session().answer().plan->prediction.fits) << "one step of undo";
}

}  // namespace
}  // namespace debubble::gui
