#include <QLabel>
#include <QPlainTextEdit>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>

#include "gui/widgets/sweep/scatter_view.h"
#include "gui/widgets/sweep/sweep_panel.h"
#include "gui/widgets/what_if/remedy_strip.h"
#include "tests/gui/widgets/window.h"

namespace debubble::gui {
namespace {

constexpr const char* kCuts =
    "parallel.tensor: [1, 2]\nparallel.pipeline: [1, 2, 4]\nparallel.data: [auto]\n"
    "training.micro_batches: [~]\nschedule: [1f1b, gpipe]\n";

TEST_F(Window, search_takes_the_best_plan_of_the_grid_in_one_step_of_undo) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    const QString before = text();
    auto* sweep = window->findChild<SweepPanel*>();
    part<QPlainTextEdit>("sweep-grid")->setPlainText(kCuts);
    QSignalSpy finished(sweep, &SweepPanel::finished);
    ASSERT_TRUE(settles_after([&] {
        command("Search the best plan")->trigger();
        ASSERT_TRUE(!finished.isEmpty() || finished.wait(kDeadline));
    }));
    ASSERT_FALSE(sweep->table().rows().empty());
    const sim::SweepRow& best = sweep->table().rows()[0];
    EXPECT_EQ(field("parallel.tensor")->currentText().toStdString(), best.values[0]);
    EXPECT_EQ(field("parallel.pipeline")->currentText().toStdString(), best.values[1]);
    EXPECT_DOUBLE_EQ(window->session().answer().plan->prediction.tokens_per_s,
                     best.figure("tokens_per_s"));
    EXPECT_TRUE(part<QLabel>("search-best")->text().startsWith("Best of 12 plans: "));
    ASSERT_TRUE(settles_after([&] { window->session().undo(); }));
    EXPECT_EQ(text(), before);
}

TEST_F(Window, a_plan_that_no_change_of_a_field_mends_is_searched_for) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    auto* strip = window->findChild<RemedyStrip*>();
    QSignalSpy found(strip, &RemedyStrip::found);
    ASSERT_TRUE(settles_after([&] { window->session().set_field("cluster.gpu.memory", "1 GiB"); }));
    ASSERT_TRUE(!found.isEmpty() || found.wait(kDeadline));
    const auto buttons = strip->findChildren<QToolButton*>();
    ASSERT_EQ(buttons.size(), 1) << "nothing fits into a GiB";
    auto* sweep = window->findChild<SweepPanel*>();
    part<QPlainTextEdit>("sweep-grid")->setPlainText(kCuts);
    QSignalSpy finished(sweep, &SweepPanel::finished);
    buttons[0]->click();
    ASSERT_TRUE(!finished.isEmpty() || finished.wait(kDeadline));
    EXPECT_TRUE(part<QLabel>("search-best")->text().startsWith("No plan of 12 fits: "));
}

TEST(Scatter, zooms_at_the_pointer_and_shows_all_again) {
    ScatterView plot;
    plot.resize(600, 400);
    std::vector<PlotPoint> points;
    for (std::size_t i = 0; i < 100; ++i)
        points.push_back({i, double(i), double(i * 37 % 100), true});
    plot.show_points(points, {"x", Better::Less, 1}, {"y", Better::More, 1});
    ASSERT_TRUE(plot.shows_all());
    const QPointF still = plot.place(points[40]);
    const QPointF other = plot.place(points[60]);
    QWheelEvent wheel(still, still, {}, {0, 480}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                      false);
    QCoreApplication::sendEvent(&plot, &wheel);
    EXPECT_FALSE(plot.shows_all());
    EXPECT_LT((plot.place(points[40]) - still).manhattanLength(), 0.01);
    EXPECT_GT(std::abs(plot.place(points[60]).x() - still.x()), std::abs(other.x() - still.x()));
    // More plans with the same figures keep the view.
    plot.show_points(points, {"x", Better::Less, 1}, {"y", Better::More, 1});
    EXPECT_LT((plot.place(points[40]) - still).manhattanLength(), 0.01);
    QTest::keyClick(&plot, Qt::Key_Home);
    EXPECT_TRUE(plot.shows_all());

    QTest::mousePress(&plot, Qt::LeftButton, {}, QPoint(200, 100));
    QTest::mouseMove(&plot, QPoint(300, 200));
    QTest::mouseRelease(&plot, Qt::LeftButton, {}, QPoint(300, 200));
    EXPECT_FALSE(plot.shows_all()) << "a drag zooms into its rectangle";
}

}  // namespace
}  // namespace debubble::gui
