#pragma once

#include <functional>
#include <vector>

#include <QCoreApplication>
#include <QFrame>

#include "base/diagnostic.h"

class QLabel;
class QToolButton;

namespace debubble::gui {

/// One line under the menu that says what went wrong, where, and what to do; never a box that
/// interrupts.
class MessageStrip : public QFrame {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::MessageStrip)

public:
    explicit MessageStrip(QWidget* parent = nullptr);

    void say(const QString& message);
    void warn(const QString& message);
    void show_mistakes(const std::vector<Diagnostic>& mistakes);
    /// Shows a message next to a button that acts on it.
    void offer(const QString& message, const QString& action, std::function<void()> act);
    void clear();
    void clear_mistakes();  ///< other messages stay

    QString message() const;

    /// Called when the person wants to see the place.
    std::function<void(const SourceLocation&)> on_place;

private:
    enum class Tone { Plain, Bad };
    void show(const QString& message, Tone tone, const QString& action);
    void show_mistake();

    QLabel* label_ = nullptr;
    QToolButton* next_ = nullptr;
    QToolButton* act_button_ = nullptr;
    std::vector<Diagnostic> mistakes_;
    std::size_t at_ = 0;
    std::function<void()> act_;
};

}  // namespace debubble::gui
