#include <fmt/format.h>
#include <QTest>

#include "base/file.h"
#include "tests/gui/widgets/stall_watcher.h"
#include "tests/gui/widgets/window.h"

namespace debubble::gui {
namespace {

// Address and undefined-behaviour sanitizers make a span some eight times as dear.
#ifdef __SANITIZE_ADDRESS__
constexpr int kMicroBatches = 300;
#else
constexpr int kMicroBatches = 2400;
#endif

TEST(StallWatcher, sees_the_work_of_one_event_and_not_a_sleep) {
    StallWatcher watcher;
    const auto run = [](int ms) {
        QEventLoop loop;
        QTimer::singleShot(ms, &loop, &QEventLoop::quit);
        loop.exec();
    };
    run(20);
    const double before = watcher.longest_ms();
    EXPECT_GT(watcher.beats(), 5);
    QTimer::singleShot(0, &watcher, [] { QTest::qSleep(60); });
    run(80);
    EXPECT_LT(watcher.longest_ms(), before + 30) << "a thread that sleeps costs no processor time";
    QTimer::singleShot(0, &watcher, [] {
        const std::clock_t until = std::clock() + CLOCKS_PER_SEC / 20;
        while (std::clock() < until) {
        }
    });
    run(80);
    EXPECT_GT(watcher.longest_ms(), 45);
}

/// A plan of 64 stages is read, predicted, shown and coloured. A small one is open before, since
/// fonts are loaded and fields made for the first plan of a window, whatever its length.
class Stalls : public Window {
protected:
    /// Milliseconds of the longest turn of the event loop until all of it is painted.
    double longest_while_it_opens(int micro_batches) {
        const QString file = folder.filePath("long.yaml");
        write_file(file.toStdString(), fmt::format(R"(model: gpt3-175b
cluster: dgx-a100-80gb
nodes: 64
parallel: {{tensor: 8, pipeline: 64, sequence: true}}
schedule: 1f1b
training: {{micro_batch: 1, global_batch: {}, seq_length: 2048, precision: fp16}}
framework: megatron-2021
)",
                                                   micro_batches));
        auto* timeline = window->findChild<TimelineView*>();
        EXPECT_TRUE(opens({"gpt2-xl"}));
        QTest::qWait(100);  // it is painted
        StallWatcher watcher;
        QSignalSpy coloured(timeline, &TimelineView::coloured);
        EXPECT_TRUE(opens({file})) << window->message().toStdString();
        EXPECT_TRUE(!coloured.isEmpty() || coloured.wait(kDeadline));
        QTest::qWait(50);
        fmt::print("{} actions: the longest stall is {:.1f} ms\n",
                   shown() ? shown().document->trace.spans.size() : 0, watcher.longest_ms());
        return watcher.longest_ms();
    }
};

TEST_F(Stalls, are_no_longer_while_a_million_actions_open) {
    double small = 1e9, large = 1e9;
    for (int tries = 0; tries < 3; ++tries) {
        small = std::min(small, longest_while_it_opens(4));
        large = std::min(large, longest_while_it_opens(kMicroBatches));
    }
    EXPECT_LT(large, 2 * small);
}

}  // namespace
}  // namespace debubble::gui
