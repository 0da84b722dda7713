#include <filesystem>

#include <fmt/format.h>
#include <QLineEdit>
#include <QStandardPaths>
#include <QTest>
#include <QToolButton>

#include "base/file.h"
#include "gui/widgets/run/run_panel.h"
#include "tests/gui/widgets/window.h"

/// Opening another scenario, closing the window and starting again lose nothing.
namespace debubble::gui {
namespace {

namespace fs = std::filesystem;

class Leaving : public Window {
protected:
    void SetUp() override {
        for (const auto& file : kept()) fs::remove(file);
        Window::SetUp();
    }
    void TearDown() override {
        window = nullptr;
        for (const auto& file : kept()) fs::remove(file);
    }

    static fs::path place() {
        return QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation).toStdString();
    }
    static std::vector<fs::path> kept() {
        std::vector<fs::path> files;
        std::error_code error;
        for (const auto& file : fs::directory_iterator(place(), error))
            if (file.path().filename().string().starts_with("unsaved-"))
                files.push_back(file.path());
        return files;
    }
    void start_again() {
        window = nullptr;
        window = std::make_unique<MainWindow>();
        window->show();
        EXPECT_TRUE(settles_after([&] { window->open({}); }));
    }
    void press(const QString& button) {
        for (QToolButton* choice :
             window->findChild<QWidget*>("messages")->findChildren<QToolButton*>())
            if (choice->text() == button) return choice->click();
        ADD_FAILURE() << "no button " << button.toStdString();
    }
    bool runs() { return window->findChild<RunPanel*>()->is_running(); }
    /// A run that lasts until it is asked to end.
    void start_run(const QString& command) {
        ASSERT_TRUE(opens({"two-rank-gpt"}));
        part<QLineEdit>("run-folder")->setText(folder.filePath("runs"));
        part<QLineEdit>("run-launch")->setText("sh -c \"" + command + "\"");
        window->execute();
        ASSERT_TRUE(QTest::qWaitFor([&] { return runs(); }, kDeadline));
    }
};

TEST_F(Leaving, for_another_scenario_asks_about_changes_and_can_be_called_off) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));
    const QString changed = text();
    const QString asked = answers("Cancel", [&] { EXPECT_TRUE(opens({"gpt2-xl-zb-h1"})); });
    EXPECT_TRUE(asked.contains("gpt2-xl")) << asked.toStdString();
    EXPECT_EQ(text(), changed);
    EXPECT_TRUE(window->windowTitle().startsWith("gpt2-xl["));
    EXPECT_FALSE(answers("Discard", [&] { EXPECT_TRUE(opens({"gpt2-xl-zb-h1"})); }).isEmpty());
    EXPECT_TRUE(window->windowTitle().startsWith("gpt2-xl-zb-h1"));
}

TEST_F(Leaving, saves_the_changes_if_that_is_the_answer) {
    const QString file = folder.filePath("mine.yaml");
    write_file(file.toStdString(), "include: gpt2-xl\n");
    ASSERT_TRUE(opens({file}));
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));
    EXPECT_FALSE(answers("Save", [&] { EXPECT_TRUE(opens({"gpt2-xl"})); }).isEmpty());
    EXPECT_NE(read_file(file.toStdString()).find("schedule: gpipe"), std::string::npos);
    EXPECT_TRUE(window->windowTitle().startsWith("gpt2-xl["));
}

TEST_F(Leaving, asks_nothing_where_nothing_is_lost) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    EXPECT_EQ(answers("Cancel", [&] { EXPECT_TRUE(opens({"gpt2-xl-zb-h1"})); }), "");
}

TEST_F(Leaving, what_was_not_saved_is_offered_at_the_next_start) {
    ASSERT_TRUE(opens({"gpt2-xl"}));
    ASSERT_TRUE(settles_after([&] { choose("schedule", "gpipe"); }));
    window->close();  // keeps what is not saved
    start_again();
    ASSERT_TRUE(window->message().contains("not saved"));
    ASSERT_TRUE(settles_after([&] { press("Restore them"); }));
    EXPECT_TRUE(text().contains("schedule: gpipe"));
    EXPECT_TRUE(window->isWindowModified());
    EXPECT_EQ(kept().size(), 2) << "one text with its lock: this window's own";
}

TEST_F(Leaving, one_text_is_restored_and_the_next_one_is_offered) {
    for (const char* name : {"a", "b"})
        write_file(place() / fmt::format("unsaved-{}.json", name),
                   fmt::format(R"({{"file": "/x/{}.yaml", "text": "include: gpt2-xl\n"}})", name));
    start_again();
    EXPECT_TRUE(window->message().contains("(1 of 2)")) << window->message().toStdString();
    const bool a_first = window->message().contains("Changes of a ");
    ASSERT_TRUE(settles_after([&] { press("Restore them"); }));
    EXPECT_TRUE(window->message().contains(a_first ? "Changes of b " : "Changes of a "));
    press("Throw them away");
    EXPECT_EQ(window->message(), "");
    for (const auto& file : kept()) {
        EXPECT_NE(file.filename(), "unsaved-a.json");
        EXPECT_NE(file.filename(), "unsaved-b.json");
    }
}

TEST_F(Leaving, during_a_run_asks_and_the_run_goes_on_if_that_is_the_answer) {
    ASSERT_NO_FATAL_FAILURE(start_run("exec sleep 600"));
    const QString asked = answers("Go on", [&] { window->close(); });
    EXPECT_TRUE(asked.contains("training run")) << asked.toStdString();
    EXPECT_TRUE(window->isVisible());
    EXPECT_TRUE(runs());
}

TEST_F(Leaving, during_a_run_ends_it_first_and_then_the_window_closes) {
    ASSERT_NO_FATAL_FAILURE(start_run("exec sleep 600"));
    EXPECT_FALSE(answers("End it and quit", [&] { window->close(); }).isEmpty());
    EXPECT_TRUE(QTest::qWaitFor([&] { return !runs() && !window->isVisible(); }, kDeadline));
}

TEST_F(Leaving, during_a_run_that_does_not_end_can_kill_it) {
    ASSERT_NO_FATAL_FAILURE(start_run("trap 'true' TERM; touch " + folder.filePath("ready") +
                                      "; while true; do sleep 0.05; done"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return fs::exists(folder.filePath("ready").toStdString()); },
                                kDeadline));
    EXPECT_FALSE(answers("End it and quit", [&] { window->close(); }).isEmpty());
    EXPECT_TRUE(window->isVisible()) << "it still ends";
    EXPECT_FALSE(answers("Kill it and quit", [&] { window->close(); }).isEmpty());
    EXPECT_FALSE(window->isVisible());
}

}  // namespace
}  // namespace debubble::gui
