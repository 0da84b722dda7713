#include "gui/widgets/message_strip.h"

#include <QAccessible>
#include <QApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include "gui/viewmodel/source.h"
#include "gui/widgets/colours.h"

namespace debubble::gui {
namespace {

QToolButton* button(const QString& text, QHBoxLayout* row) {
    auto* made = new QToolButton;
    made->setText(text);
    made->setAutoRaise(true);
    row->addWidget(made);
    return made;
}

QString sentence(const Diagnostic& mistake) {
    const QString message = QString::fromStdString(mistake.message);
    if (mistake.where.file.empty()) return message;
    const QString file = QString::fromStdString(mistake.where.file).section('/', -1);
    if (mistake.where.line == 0) return QString("%1: %2").arg(file, message);
    return QString("%1:%2:%3: %4")
        .arg(file)
        .arg(mistake.where.line)
        .arg(mistake.where.column)
        .arg(message);
}

}  // namespace

MessageStrip::MessageStrip(QWidget* parent) : QFrame(parent) {
    setObjectName("messages");
    setAccessibleName(tr("Messages"));
    setAutoFillBackground(true);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(8, 3, 4, 3);
    label_ = new QLabel;
    label_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label_->setTextFormat(Qt::PlainText);
    label_->setWordWrap(true);
    row->addWidget(label_, 1);
    next_ = button(tr("Next"), row);
    first_button_ = button({}, row);
    second_button_ = button({}, row);
    auto* close = button(QString(QChar(0x2715)), row);
    close->setAccessibleName(tr("Close the message"));
    close->setToolTip(tr("Close the message"));
    connect(close, &QToolButton::clicked, this, [this] { clear(); });
    connect(next_, &QToolButton::clicked, this, [this] {
        at_ = (at_ + 1) % mistakes_.size();
        show_mistake();
    });
    // Calls a copy, since the action may clear the strip.
    connect(first_button_, &QToolButton::clicked, this, [this] {
        if (const auto act = first_.act) act();
    });
    connect(second_button_, &QToolButton::clicked, this, [this] {
        if (const auto act = second_.act) act();
    });
    hide();
}

void MessageStrip::say(const QString& message) {
    clear();
    show(message, Tone::Plain);
}

void MessageStrip::warn(const QString& message) {
    clear();
    show(message, Tone::Bad);
}

void MessageStrip::offer(const QString& message, Offer first, Offer second) {
    clear();
    first_ = std::move(first);
    second_ = std::move(second);
    show(message, Tone::Plain);
}

void MessageStrip::show_mistakes(const std::vector<Diagnostic>& mistakes) {
    mistakes_ = mistakes;
    at_ = 0;
    show_mistake();
}

void MessageStrip::show_mistake() {
    const Diagnostic& mistake = mistakes_[at_];
    const bool placed = mistake.where.line > 0 && on_place && has_place && has_place(mistake.where);
    first_ = {};
    second_ = {};
    if (placed) first_ = {tr("Show the place"), [this, where = mistake.where] { on_place(where); }};
    QString line = sentence(mistake);
    if (mistakes_.size() > 1) line += tr("  (%1 of %2)").arg(at_ + 1).arg(mistakes_.size());
    show(line, Tone::Bad);
}

void MessageStrip::show(const QString& message, Tone tone) {
    label_->setText(message);
    next_->setVisible(mistakes_.size() > 1);
    first_button_->setVisible(!first_.name.isEmpty());
    first_button_->setText(first_.name);
    second_button_->setVisible(!second_.name.isEmpty());
    second_button_->setText(second_.name);
    tone_ = tone;
    tint();
    setVisible(true);
    QAccessibleEvent event(label_, QAccessible::Alert);
    QAccessible::updateAccessibility(&event);
}

/// Uses the application's palette, which is that of the theme at once. A widget's palette follows
/// only when the widget is shown.
void MessageStrip::tint() {
    const QPalette system = QApplication::palette();
    const QColor ground = system.color(QPalette::Window);
    const QColor hue = tone_ == Tone::Bad ? QColor(0xC03028) : system.color(QPalette::Highlight);
    QPalette mine = system;
    mine.setColor(QPalette::Window, between(ground, hue, 0.2));
    setPalette(mine);
}

void MessageStrip::clear() {
    mistakes_.clear();
    first_ = {};
    second_ = {};
    label_->clear();
    hide();
}

void MessageStrip::clear_mistakes() {
    if (!mistakes_.empty()) clear();
}

QString MessageStrip::message() const {
    return isHidden() ? QString() : label_->text();
}

}  // namespace debubble::gui
