#include <cstdlib>

#include <QDockWidget>
#include <QFileInfo>
#include <QScreen>
#include <QStatusBar>
#include <QToolBar>

#include "gui/widgets/what_if/what_if_panel.h"
#include "gui/widgets/whole_run/run_page.h"
#include "tests/gui/widgets/timeline/views.h"
#include "tests/gui/widgets/window.h"
#include "tests/support/source_folder.h"
#include "trace/picture/bubbles.h"

/// Pictures of the whole window. With DEBUBBLE_PICTURES=FOLDER they are kept in that folder. An
/// entry of ctest runs these cases at 200 %.
namespace debubble::gui {
namespace {

class WindowPicture : public Window {
protected:
    void TearDown() override {
        command("Theme of the system")->trigger();
        window = nullptr;
    }

    QImage picture(QSize size) {
        window->resize(size);
        command("Reset the layout")->trigger();
        for (int i = 0; i < 3; ++i) QApplication::processEvents();
        return window->grab().toImage();
    }
    void keep(const QImage& image, const std::string& name) const {
        const char* place = std::getenv("DEBUBBLE_PICTURES");
        if (place == nullptr) return;
        const int percent = int(100 * window->devicePixelRatio());
        const QString file = QString("%1/window-%2-%3.png").arg(place, name.c_str()).arg(percent);
        EXPECT_TRUE(image.save(file));
    }
    template <class T>
    void expect_inside() {
        for (const T* part : window->findChildren<T*>()) {
            if (part->visibleRegion().isEmpty()) continue;
            const QRect place(part->mapTo(window.get(), QPoint()), part->size());
            EXPECT_TRUE(window->rect().contains(place)) << part->objectName().toStdString();
        }
    }
};

/// The sizes are those of whole screens without the frame of a window.
TEST_F(WindowPicture, has_all_parts_inside_in_both_themes_on_small_and_large_screens) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    window->findChild<TimelineView*>()->next_bubble();
    const double ratio = window->devicePixelRatio();
    for (const char* theme : {"Light theme", "Dark theme"}) {
        command(theme)->trigger();
        const bool dark = QString(theme) == "Dark theme";
        for (const QSize screen : {QSize(1280, 720), QSize(1920, 1080)}) {
            // Smaller screens at 200 % are not used in practice.
            if (ratio > 1 && screen.width() < 1920) continue;
            const QSize size = ratio > 1 ? screen / ratio - QSize(16, 48) : screen;
            const QImage image = picture(size);
            EXPECT_EQ(image.size(), size * ratio);
            EXPECT_EQ(window->size(), size) << "the window is no larger than its screen";
            expect_inside<QDockWidget>();
            expect_inside<QToolBar>();
            expect_inside<QStatusBar>();
            const Theme shades = dark ? Theme::Dark : Theme::Light;
            EXPECT_GT(count(image, bubble_colours(BubbleCause::OtherStage, shades).ground), 200U);
            EXPECT_GT(count(image, ground_of(shades).accent), 50U) << "of the selected bubble";
            keep(image, std::string(dark ? "dark" : "light") + '-' +
                            std::to_string(screen.width()) + 'x' + std::to_string(screen.height()));
        }
    }
}

/// Llama 3 70B on 64 H100, gpt2-xl-zb-v, GPT-3 175B, DeepSeek-V3, and a recorded profile.
TEST_F(WindowPicture, of_large_plans_and_of_a_profile_has_all_parts_inside) {
    const std::string profile =
        (source_folder() / "tests/trace/profile/data/ddp_one_step.json.gz").string();
    const double ratio = window->devicePixelRatio();
    for (const QString& file :
         {QString("gpt2-xl-zb-v"), QString("gpt3-175b"), QString("deepseek-v3"),
          QString("llama3-70b-sweep"), QString::fromStdString(profile)}) {
        ASSERT_TRUE(opens({file}));
        window->findChild<TimelineView*>()->next_bubble();
        const std::string name = QFileInfo(file).baseName().toStdString();
        for (const char* theme : {"Light theme", "Dark theme"}) {
            command(theme)->trigger();
            for (const QSize screen : {QSize(1280, 720), QSize(1920, 1080)}) {
                if (ratio > 1 && screen.width() < 1920) continue;
                const QSize size = ratio > 1 ? screen / ratio - QSize(16, 48) : screen;
                const QImage image = picture(size);
                EXPECT_EQ(window->size(), size) << name;
                expect_inside<QDockWidget>();
                expect_inside<QToolBar>();
                expect_inside<QStatusBar>();
                keep(image, name + (QString(theme) == "Dark theme" ? "-dark-" : "-light-") +
                                std::to_string(screen.width()));
            }
        }
    }
}

TEST_F(WindowPicture, has_large_letters_where_the_system_has) {
    const QFont usual = QApplication::font();
    QFont large = usual;
    large.setPointSize(20);
    QApplication::setFont(large);
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    const QSize size = QSize(1920, 1080) / window->devicePixelRatio();
    if (window->devicePixelRatio() == 1) {
        keep(picture(size), "large-letters");
        EXPECT_EQ(window->size(), size);
        expect_inside<QDockWidget>();
    }
    QApplication::setFont(usual);
}

TEST_F(WindowPicture, has_a_whole_run_in_both_themes_on_small_and_large_screens) {
    ASSERT_TRUE(opens({"llama3-405b-run"}));
    auto* page = window->findChild<RunPage*>();
    QSignalSpy curve(page, &RunPage::curve_ready);
    command("Show the whole run")->trigger();
    ASSERT_TRUE(!curve.isEmpty() || curve.wait(kDeadline));
    for (const char* theme : {"Light theme", "Dark theme"}) {
        command(theme)->trigger();
        const bool dark = QString(theme) == "Dark theme";
        const Theme shades = dark ? Theme::Dark : Theme::Light;
        for (const QSize screen : {QSize(1280, 720), QSize(1920, 1080)}) {
            const double ratio = window->devicePixelRatio();
            if (ratio > 1 && screen.width() < 1920) continue;
            const QSize size = ratio > 1 ? screen / ratio - QSize(16, 48) : screen;
            window->resize(size);
            window->reset_layout();
            const int width_before = window->findChild<WhatIfPanel*>()->width();
            command("Show the whole run")->trigger();
            for (int i = 0; i < 3; ++i) QApplication::processEvents();
            EXPECT_GT(window->findChild<WhatIfPanel*>()->width(), width_before * 9 / 10)
                << "the page takes no room from the panels";
            const QImage image = window->grab().toImage();
            EXPECT_EQ(window->size(), size) << "the window is no larger than its screen";
            expect_inside<RunPage>();
            for (const sim::RunTime cause :
                 {sim::RunTime::Useful, sim::RunTime::Restart, sim::RunTime::Checkpoint})
                EXPECT_GT(count(image, colour_of(cause, shades)), 100U) << said_cause(cause);
            keep(image, std::string(dark ? "run-dark" : "run-light") + '-' +
                            std::to_string(screen.width()) + 'x' + std::to_string(screen.height()));
        }
    }
}

}  // namespace
}  // namespace debubble::gui
