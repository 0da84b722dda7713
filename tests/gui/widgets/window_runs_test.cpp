#include <filesystem>

#include <QDir>
#include <QFileInfo>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <QTest>

#include "base/file.h"
#include "gui/widgets/run/run_panel.h"
#include "tests/gui/widgets/window.h"
#include "tests/support/source_folder.h"

namespace debubble::gui {
namespace {

TEST_F(Window, a_run_is_watched_and_compared_with_its_prediction) {
    const std::string programs = QCoreApplication::applicationDirPath().toStdString();
    for (const char* program : {"/debubble", "/debubble-exec"})
        if (!std::filesystem::exists(programs + program))
            GTEST_SKIP() << programs << program << " is not built";
    const QString plan = folder.filePath("plan.yaml");
    write_file(plan.toStdString(),
               "include: two-rank-gpt\ntraining: {seq_length: 64, checkpoint: {dir: " +
                   folder.filePath("mine").toStdString() + "}, data: {text: " +
                   (source_folder() / "scenarios/data/tales.txt").string() + "}}\n");
    ASSERT_TRUE(opens({plan}));
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));  // not what the file says
    auto* run = window->findChild<RunPanel*>();
    part<QSpinBox>("run-steps")->setValue(3);
    part<QLineEdit>("run-folder")->setText(folder.filePath("runs"));
    QSignalSpy failed(run, &RunPanel::failed);
    QSignalSpy settled(window.get(), &MainWindow::settled);
    window->execute();
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return !settled.isEmpty() || !failed.isEmpty(); }, 2 * kDeadline))
        << part<QPlainTextEdit>("run-log")->toPlainText().toStdString();
    ASSERT_TRUE(failed.isEmpty()) << failed[0][0].toString().toStdString();
    EXPECT_EQ(run->steps().size(), 3);
    EXPECT_FALSE(QFileInfo::exists(folder.filePath("mine"))) << "where a real training saves";
    const auto runs =
        QDir(folder.filePath("runs")).entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot);
    ASSERT_EQ(runs.size(), 1);
    EXPECT_TRUE(QFileInfo::exists(runs[0].filePath() + "/checkpoints"));
    const Scene& scene = window->findChild<TimelineView*>()->scene();
    EXPECT_TRUE(scene.comparison);
    EXPECT_EQ(scene.main.document->trace.header.source, TraceSource::Simulated);
    EXPECT_EQ(scene.other.document->trace.header.source, TraceSource::Executed);
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

}  // namespace
}  // namespace debubble::gui
