#include "gui/widgets/language.h"

#include <gmock/gmock.h>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <QTreeWidget>

#include "tests/gui/widgets/window.h"

namespace debubble::gui {
namespace {

class Languages : public Window {
protected:
    void SetUp() override {}
    void TearDown() override {
        window.reset();
        speak("en");
    }
    void speaks(const QString& code) {
        speak(code);
        Window::SetUp();
    }
    QStringList menus() {
        QStringList titles;
        for (const QAction* action : window->menuBar()->actions())
            titles << action->text().remove('&');
        return titles;
    }
    bool summary_has(const QString& name) {
        const auto* summary = static_cast<QTreeWidget*>(part<QDockWidget>("summary")->widget());
        return !summary->findItems(name, Qt::MatchExactly).isEmpty();
    }
};

TEST_F(Languages, are_english_without_a_translation) {
    speaks("fi");
    EXPECT_EQ(menus().front(), "File");
}

TEST_F(Languages, german_is_spoken_by_menus_fields_and_figures) {
    speaks("de");
    EXPECT_EQ(menus(), (QStringList{"Datei", "Bearbeiten", "Plan", "Ansicht", "Hilfe"}));
    ASSERT_TRUE(opens({"gpt2-xl"}));
    EXPECT_TRUE(summary_has("Durchsatz"));
    EXPECT_FALSE(summary_has("throughput"));
    EXPECT_EQ(part<QDockWidget>("summary")->windowTitle(), QString::fromUtf8("Übersicht"));
}

TEST_F(Languages, chinese_is_spoken_by_menus_fields_and_figures) {
    speaks("zh_CN");
    EXPECT_TRUE(menus().front().startsWith(QString::fromUtf8("文件")));
    ASSERT_TRUE(opens({"gpt2-xl"}));
    EXPECT_TRUE(summary_has(QString::fromUtf8("吞吐量")));
}

TEST_F(Languages, the_chosen_one_is_remembered_until_that_of_the_system_is_chosen) {
    speaks("en");
    EXPECT_EQ(remembered_language(), "");
    command("Deutsch")->trigger();
    EXPECT_EQ(remembered_language(), "de");
    EXPECT_TRUE(window->message().contains("next start"));
    command("Language of the system")->trigger();
    EXPECT_EQ(remembered_language(), "");
}

}  // namespace
}  // namespace debubble::gui
