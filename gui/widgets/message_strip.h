#pragma once

#include <functional>
#include <vector>

#include <QCoreApplication>
#include <QFrame>

#include "base/diagnostic.h"

class QLabel;
class QToolButton;

namespace debubble::gui {

/// One line under the menu for messages, with their place and a remedy, instead of interrupting
/// dialogs.
class MessageStrip : public QFrame {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::MessageStrip)

public:
    explicit MessageStrip(QWidget* parent = nullptr);

    void say(const QString& message);
    void warn(const QString& message);
    void show_mistakes(const std::vector<Diagnostic>& mistakes);
    /// A button next to a message.
    struct Offer {
        QString name;
        std::function<void()> act;
    };
    /// Shows a message with one or two buttons that act on it.
    void offer(const QString& message, Offer first, Offer second = {});
    void clear();
    void clear_mistakes();  ///< other messages stay

    QString message() const;
    /// Mixes the colours of the strip again after a change of the theme.
    void tint();

    /// Called when the user wants to see the place.
    std::function<void(const SourceLocation&)> on_place;
    /// Whether a place can be shown, unlike that of a mistake in another file.
    std::function<bool(const SourceLocation&)> has_place;

private:
    enum class Tone { Plain, Bad };
    void show(const QString& message, Tone tone);
    void show_mistake();

    QLabel* label_ = nullptr;
    QToolButton* next_ = nullptr;
    QToolButton* first_button_ = nullptr;
    QToolButton* second_button_ = nullptr;
    std::vector<Diagnostic> mistakes_;
    std::size_t at_ = 0;
    Tone tone_ = Tone::Plain;
    Offer first_;
    Offer second_;
};

}  // namespace debubble::gui
