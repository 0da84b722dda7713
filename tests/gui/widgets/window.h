#pragma once

#include <memory>

#include <gtest/gtest.h>
#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QMessageBox>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTimer>

#include "gui/widgets/main_window.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/what_if/yaml_editor.h"

namespace debubble::gui {

inline constexpr int kDeadline = 30'000;  ///< ms; a prediction under a sanitizer on a busy machine

/// A window without settings, with helpers for the user's actions.
class Window : public testing::Test {
protected:
    void SetUp() override {
        QSettings().clear();
        window = std::make_unique<MainWindow>();
        window->resize(1400, 900);
        window->show();
    }

    /// Runs `act` and waits until the window has answered.
    template <class Act>
    bool settles_after(Act act) {
        QSignalSpy settled(window.get(), &MainWindow::settled);
        act();
        return !settled.isEmpty() || settled.wait(kDeadline);
    }
    bool opens(const QStringList& files) {
        return settles_after([&] { window->open_files(files); });
    }
    /// Presses `button` in the question that `act` makes the window ask. Returns the question, or
    /// an empty text if none was asked.
    template <class Act>
    QString answers(const QString& button, Act act) {
        QString asked;
        QTimer poll;
        QObject::connect(&poll, &QTimer::timeout, [&] {
            auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
            if (box == nullptr) return;
            asked = box->text();
            for (QAbstractButton* choice : box->buttons())
                if (choice->text().remove('&') == button) return choice->click();
            ADD_FAILURE() << "no button " << button.toStdString();
            box->reject();
        });
        poll.start(5);
        act();
        return asked;
    }
    template <class T>
    T* part(const QString& name) {
        return window->findChild<T*>(name);
    }
    QComboBox* field(const QString& key) { return part<QComboBox>(key); }
    void choose(const QString& key, const QString& value) {
        const int at = field(key)->findText(value);
        field(key)->setCurrentIndex(at);
        Q_EMIT field(key)->activated(at);
    }
    /// The command of the menus with this text.
    QAction* command(const QString& text) {
        for (QAction* action : window->actions())
            if (action->text().remove('&') == text) return action;
        ADD_FAILURE() << "no command " << text.toStdString();
        return nullptr;
    }
    const Layer& shown() { return window->findChild<TimelineView*>()->scene().main; }
    const Layer& ghost() { return window->findChild<TimelineView*>()->scene().other; }
    QString text() { return window->findChild<YamlEditor*>()->toPlainText(); }

    std::unique_ptr<MainWindow> window;
    QTemporaryDir folder;
};

}  // namespace debubble::gui
