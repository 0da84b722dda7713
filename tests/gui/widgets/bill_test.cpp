#include <QTest>

#include "gui/widgets/bill/bill_panel.h"
#include "gui/widgets/bill/tornado_view.h"
#include "gui/widgets/zoo/zoo_panel.h"
#include "tests/gui/widgets/window.h"

namespace debubble::gui {
namespace {

TEST_F(Window, a_part_of_the_bill_lights_its_bubbles_in_the_lanes_below) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    auto* bill = window->findChild<BillPanel*>();
    auto* timeline = window->findChild<TimelineView*>();
    QSignalSpy ready(bill, &BillPanel::rows_ready);
    command("Show where the step goes")->trigger();
    ASSERT_TRUE(!ready.isEmpty() || ready.wait(kDeadline));
    EXPECT_TRUE(timeline->isVisible());
    const auto warm_up = bill->findItems("warm-up", Qt::MatchExactly);
    ASSERT_EQ(warm_up.size(), 1);
    bill->setCurrentItem(warm_up[0]);
    const Scene& scene = timeline->scene();
    ASSERT_TRUE(scene.lit.any());
    EXPECT_TRUE(scene.lit.causes[static_cast<std::size_t>(BubbleCause::WarmUp)]);
    command("Show the timeline")->trigger();
    EXPECT_FALSE(scene.lit.any());
    EXPECT_FALSE(bill->isVisible());
}

TEST_F(Window, a_click_on_a_knob_turns_it_and_undo_takes_it_back) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    const QString before = text();
    const double step = window->session().answer().plan->prediction.step_time_s;
    auto* bill = window->findChild<BillPanel*>();
    QSignalSpy ready(bill, &BillPanel::knobs_ready);
    command("Show where the step goes")->trigger();
    ASSERT_TRUE(!ready.isEmpty() || ready.wait(kDeadline));
    const auto warm_up = bill->findItems("warm-up", Qt::MatchExactly);
    ASSERT_EQ(warm_up.size(), 1);
    ASSERT_FALSE(warm_up[0]->text(4).isEmpty());
    ASSERT_TRUE(settles_after([&] { Q_EMIT bill->itemClicked(warm_up[0], 4); }));
    EXPECT_LT(window->session().answer().plan->prediction.step_time_s, step);
    ASSERT_TRUE(settles_after([&] { window->session().undo(); }));
    EXPECT_EQ(text(), before);
}

TEST_F(Window, a_bar_of_the_tornado_is_a_slider_whose_knob_asks_what_if) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    const QString before = text();
    const double step = window->session().answer().plan->prediction.step_time_s;
    auto* tornado = window->findChild<TornadoView*>();
    QSignalSpy ready(tornado, &TornadoView::ready);
    command("Show where the step goes")->trigger();
    ASSERT_TRUE(!ready.isEmpty() || ready.wait(kDeadline));
    const auto& bars = tornado->tornado()->bars;
    ASSERT_EQ(bars[0].lever.name(), "GPU");
    const QPoint knob = tornado->knob_of(0).toPoint();
    const QPoint slowest = tornado->place_of(0, *bars[0].step_at_half_s).toPoint();
    ASSERT_TRUE(settles_after([&] {
        QTest::mousePress(tornado, Qt::LeftButton, {}, knob);
        QTest::mouseMove(tornado, slowest);
        QTest::mouseRelease(tornado, Qt::LeftButton, {}, slowest);
    }));
    const double slow = window->session().answer().plan->prediction.step_time_s;
    EXPECT_NEAR(slow, *bars[0].step_at_half_s, 0.02 * slow) << "at most a pixel from the end";
    EXPECT_GT(slow, step);
    EXPECT_TRUE(text().contains("fp16_flops"));
    // The window may have given it another width meanwhile.
    EXPECT_NEAR(tornado->knob_of(0).x(), tornado->place_of(0, *bars[0].step_at_half_s).x(), 2)
        << "the knob stays where it was left";
    ASSERT_TRUE(settles_after([&] { window->session().undo(); }));
    EXPECT_EQ(text(), before);
    EXPECT_NEAR(tornado->knob_of(0).x(), tornado->place_of(0, step).x(), 1);
    ASSERT_TRUE(settles_after([&] { QTest::keyClick(tornado, Qt::Key_Left); }));
    EXPECT_NE(text(), before);
}

TEST_F(Window, space_pins_a_schedule_and_enter_takes_it) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    auto* zoo = window->findChild<ZooPanel*>();
    QSignalSpy ready(zoo, &ZooPanel::rows_ready);
    command("Show every schedule")->trigger();
    ASSERT_TRUE(!ready.isEmpty() || ready.wait(kDeadline));
    ASSERT_GT(zoo->rows().size(), 3U);
    zoo->setCurrentItem(zoo->topLevelItem(2));
    QTest::keyClick(zoo, Qt::Key_Space);
    const std::string pinned = zoo->rows()[2].schedule;
    EXPECT_EQ(zoo->pinned(), std::vector<std::string>{pinned});
    EXPECT_TRUE(zoo->topLevelItem(0)->text(0).startsWith(QString::fromStdString(pinned)));
    EXPECT_EQ(zoo->currentItem(), zoo->topLevelItem(0));
    EXPECT_TRUE(zoo->topLevelItem(1)->text(2).contains('%'))
        << "other rows show the difference to it";
    ASSERT_TRUE(settles_after([&] { Q_EMIT zoo->itemActivated(zoo->topLevelItem(0), 0); }));
    EXPECT_EQ(field("schedule")->currentText().toStdString(), pinned);
}

}  // namespace
}  // namespace debubble::gui
