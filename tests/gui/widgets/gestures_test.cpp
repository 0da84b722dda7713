#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTest>

#include "base/file.h"
#include "gui/viewmodel/export.h"
#include "gui/widgets/bill/tornado_view.h"
#include "gui/widgets/sweep/sweep_panel.h"
#include "gui/widgets/zoo/zoo_panel.h"
#include "tests/gui/widgets/window.h"

/// Five tasks of users, each with its limit of gestures: a click, a key, a drag, a choice in a box,
/// or a typed number.
namespace debubble::gui {
namespace {

class Gestures : public Window {
protected:
    /// One gesture, after which the window shows another answer.
    template <class Act>
    void changes(Act act) {
        ++made_;
        ASSERT_TRUE(settles_after(act));
    }
    /// One gesture after which `done` has been emitted.
    template <class Act>
    void makes(QSignalSpy& done, Act act) {
        ++made_;
        act();
        ASSERT_TRUE(!done.isEmpty() || done.wait(kDeadline));
    }
    template <class Act>
    void at_once(Act act) {
        ++made_;
        act();
    }
    void types(const QString& key, const QString& number) {
        QLineEdit* box = field(key)->lineEdit();
        box->setFocus();
        box->selectAll();
        QTest::keyClicks(box, number);
        QTest::keyClick(box, Qt::Key_Return);
    }
    int made_ = 0;
};

TEST_F(Gestures, five_find_the_best_plan_of_llama_on_64_gpus_from_the_first_screen) {
    ASSERT_TRUE(opens({kFirstExample}));
    changes([&] { choose("model", "llama3-70b"); });
    changes([&] { choose("cluster", "hgx-h100"); });
    changes([&] {
        if (field("gpus") != nullptr)
            types("gpus", "64");
        else
            types("nodes", "8");
    });
    // As many gestures as for the grid of all degrees, which takes a sanitizer minutes.
    auto* sweep = window->findChild<SweepPanel*>();
    part<QPlainTextEdit>("sweep-grid")
        ->setPlainText(
            "parallel.tensor: [4, 8]\nparallel.pipeline: [4, 8]\n"
            "parallel.data: [auto]\nparallel.zero_stage: [1]\n");
    QSignalSpy finished(sweep, &SweepPanel::finished);
    changes([&] {
        command("Search the best plan")->trigger();
        ASSERT_TRUE(!finished.isEmpty() || finished.wait(kDeadline));
    });
    EXPECT_LE(made_, 5);
    const auto plan = window->session().answer().plan;
    ASSERT_NE(plan, nullptr);
    EXPECT_TRUE(plan->prediction.fits);
    EXPECT_EQ(plan->scenario.model.name, "llama3-70b");
    EXPECT_EQ(plan->scenario.gpus, 64);
}

TEST_F(Gestures, two_say_why_rank_3_waits) {
    ASSERT_TRUE(opens({kFirstExample}));
    auto* timeline = window->findChild<TimelineView*>();
    const auto& bubbles = shown().document->statistics.bubbles;
    const auto longest = std::ranges::max_element(bubbles, {}, [](const Bubble& bubble) {
        return bubble.rank == Rank{3} ? bubble.end - bubble.begin : Duration{};
    });
    ASSERT_EQ(longest->rank, Rank{3});
    at_once([&] {
        const QRect row = timeline->row_on_screen(3);
        const TimeAxis& axis = timeline->state().axis;
        const double x = axis.x(longest->begin + (longest->end - longest->begin) / 2);
        const QPoint at(row.right() - static_cast<int>(axis.width() - x), row.top() + 8);
        QTest::mouseClick(timeline->viewport(), Qt::LeftButton, {},
                          timeline->viewport()->mapFromGlobal(at));
    });
    EXPECT_LE(made_, 2);
    EXPECT_TRUE(part<QLabel>("answer-line")->text().contains("Rank 3 waits"))
        << part<QLabel>("answer-line")->text().toStdString();
}

TEST_F(Gestures, two_lay_three_schedules_beside_each_other) {
    ASSERT_TRUE(opens({kFirstExample}));
    auto* zoo = window->findChild<ZooPanel*>();
    QSignalSpy ready(zoo, &ZooPanel::rows_ready);
    makes(ready, [&] { command("Show every schedule")->trigger(); });
    EXPECT_LE(made_, 2);
    ASSERT_GE(zoo->topLevelItemCount(), 3);
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(zoo->rows()[static_cast<std::size_t>(i)].possible());
        EXPECT_GT(zoo->visualItemRect(zoo->topLevelItem(i)).height(), 10) << "it is in sight";
        EXPECT_TRUE(
            zoo->viewport()->rect().contains(zoo->visualItemRect(zoo->topLevelItem(i)).center()));
    }
}

TEST_F(Gestures, two_ask_what_a_slower_network_costs) {
    ASSERT_TRUE(opens({"gpt3-175b"}));
    const double before = window->session().answer().plan->prediction.step_time_s;
    auto* tornado = window->findChild<TornadoView*>();
    QSignalSpy ready(tornado, &TornadoView::ready);
    makes(ready, [&] { command("Show where the step goes")->trigger(); });
    const auto& bars = tornado->tornado()->bars;
    const auto network =
        std::ranges::find(bars, "network", [](const auto& bar) { return bar.lever.name(); });
    ASSERT_NE(network, bars.end());
    const auto at = static_cast<std::size_t>(network - bars.begin());
    const QPoint knob = tornado->knob_of(at).toPoint();
    const QPoint slow = tornado->place_of(at, *network->step_at_half_s).toPoint();
    changes([&] {
        QTest::mousePress(tornado, Qt::LeftButton, {}, knob);
        QTest::mouseMove(tornado, slow);
        QTest::mouseRelease(tornado, Qt::LeftButton, {}, slow);
    });
    EXPECT_LE(made_, 2);
    EXPECT_GT(window->session().answer().plan->prediction.step_time_s, before);
}

TEST_F(Gestures, four_lay_a_trace_beside_its_prediction) {
    const QString trace = folder.filePath("mine.json");
    write_file(trace.toStdString(), exported(read_exhibit(kFirstExample, {}), ExportFormat::Json));
    changes([&] { window->open_files({kFirstExample}); });
    changes([&] { window->open_files({trace}); });
    changes([&] { command("Lay it above the pinned plan")->trigger(); });
    EXPECT_LE(made_, 4);
    const Scene& scene = window->findChild<TimelineView*>()->scene();
    ASSERT_TRUE(scene.comparison);
    EXPECT_EQ(scene.main.document->trace.header.source, TraceSource::Simulated);
    EXPECT_FALSE(part<QPlainTextEdit>("compare-text")->toPlainText().isEmpty());
}

}  // namespace
}  // namespace debubble::gui
