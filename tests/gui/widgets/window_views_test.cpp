#include "gui/widgets/window_view.h"

#include <set>

#include <gmock/gmock.h>
#include <QDockWidget>
#include <QTabBar>
#include <QTextBrowser>

#include "tests/gui/widgets/window.h"

namespace debubble::gui {
namespace {

TEST_F(Window, every_view_has_a_title_a_key_and_a_line_of_help) {
    std::set<std::pair<ViewPlace, QString>> names;
    QStringList own_keys;
    ASSERT_GE(window->views().size(), 13U);
    for (const auto& view : window->views()) {
        const ViewFacts facts = view->facts();
        const std::string name = facts.name.toStdString();
        EXPECT_TRUE(names.emplace(facts.place, facts.name).second) << name;
        EXPECT_FALSE(facts.title.isEmpty()) << name;
        EXPECT_FALSE(facts.line.isEmpty()) << name;
        EXPECT_FALSE(key_of(facts).isEmpty()) << name;
        EXPECT_EQ(facts.key.isEmpty(), facts.command.isEmpty()) << name;
        EXPECT_NE(view->widget(), nullptr) << name;
        if (facts.command.isEmpty()) continue;
        own_keys << facts.key.toString();
        EXPECT_EQ(command(QString(facts.command).remove('&'))->shortcut(), facts.key) << name;
    }
    EXPECT_EQ(own_keys.removeDuplicates(), 0);
}

TEST_F(Window, every_view_stands_where_it_says_under_its_name) {
    const auto* tabs = part<QTabBar>("pages");
    int page = 0;
    for (const auto& view : window->views()) {
        const ViewFacts facts = view->facts();
        const std::string name = facts.name.toStdString();
        if (facts.place == ViewPlace::Middle) {
            EXPECT_EQ(tabs->tabData(page).toString(), facts.name);
            EXPECT_EQ(tabs->tabText(page), facts.title);
            ++page;
            command(QString(facts.command).remove('&'))->trigger();
            EXPECT_EQ(tabs->tabData(tabs->currentIndex()).toString(), facts.name);
            EXPECT_TRUE(view->widget()->isVisible()) << name;
            continue;
        }
        const auto* dock = part<QDockWidget>(facts.name);
        ASSERT_NE(dock, nullptr) << name;
        EXPECT_EQ(dock->windowTitle(), facts.title);
        EXPECT_TRUE(dock->isAncestorOf(view->widget())) << name;
        const bool beside =
            window->dockWidgetArea(const_cast<QDockWidget*>(dock)) == Qt::LeftDockWidgetArea;
        EXPECT_EQ(beside, facts.place == ViewPlace::Beside) << name;
    }
    EXPECT_EQ(page, tabs->count());
}

TEST_F(Window, the_help_lists_every_view_and_its_keys) {
    window->show_help();
    const auto* help = part<QDialog>("help");
    ASSERT_NE(help, nullptr);
    QString text;
    for (const auto* page : help->findChildren<QTextBrowser*>()) text += page->toPlainText();
    for (const auto& view : window->views()) {
        const ViewFacts facts = view->facts();
        EXPECT_TRUE(text.contains(facts.title + ": " + facts.line)) << facts.name.toStdString();
        for (const ViewKey& key : facts.keys)
            EXPECT_TRUE(text.contains(key.meaning)) << key.meaning.toStdString();
    }
}

}  // namespace
}  // namespace debubble::gui
