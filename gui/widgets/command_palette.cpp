#include "gui/widgets/command_palette.h"

#include <algorithm>

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

namespace debubble::gui {
namespace {

QString name_of(const QAction* command) {
    QString name = command->text();
    return name.remove('&').remove("...");
}

/// The distance from the first to the last of the letters in the name; -1 if they do not occur in
/// order.
int spread(const QString& name, const QString& letters) {
    qsizetype at = -1;
    int spread = 0;
    for (const QChar letter : letters) {
        const qsizetype next = name.indexOf(letter, at + 1, Qt::CaseInsensitive);
        if (next < 0) return -1;
        spread += int(next - at - 1);
        at = next;
    }
    return spread;
}

}  // namespace

CommandPalette::CommandPalette(const QList<QAction*>& commands, QWidget* parent)
    : QDialog(parent, Qt::Popup), wanted_(new QLineEdit), found_(new QListWidget) {
    for (QAction* command : commands)
        if (command->isEnabled() && !command->text().isEmpty()) commands_ << command;
    setObjectName("commands");
    setAccessibleName(tr("Commands"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(6, 6, 6, 6);
    wanted_->setPlaceholderText(tr("Type a command"));
    wanted_->setAccessibleName(tr("Command to find"));
    wanted_->installEventFilter(this);
    found_->setFocusPolicy(Qt::NoFocus);
    column->addWidget(wanted_);
    column->addWidget(found_);
    connect(wanted_, &QLineEdit::textChanged, this, [this](const QString& text) { fill(text); });
    connect(wanted_, &QLineEdit::returnPressed, this, [this] { carry_out(); });
    connect(found_, &QListWidget::itemClicked, this, [this] { carry_out(); });
    fill({});
}

void CommandPalette::popup() {
    const QWidget* window = parentWidget();
    resize(460, 320);
    move(window->mapToGlobal(QPoint((window->width() - width()) / 2, 60)));
    show();
    wanted_->setFocus();
}

void CommandPalette::fill(const QString& wanted) {
    QList<std::pair<int, QAction*>> ranked;
    for (QAction* command : commands_)
        if (const int rank = spread(name_of(command), wanted); rank >= 0)
            ranked << std::pair{rank, command};
    std::ranges::stable_sort(ranked, {}, &std::pair<int, QAction*>::first);
    found_->clear();
    for (const auto& [rank, command] : ranked) {
        const QString keys = command->shortcut().toString(QKeySequence::NativeText);
        auto* item = new QListWidgetItem(
            keys.isEmpty() ? name_of(command) : QString("%1    %2").arg(name_of(command), keys),
            found_);
        item->setToolTip(command->statusTip());
        item->setData(Qt::UserRole, QVariant::fromValue(static_cast<void*>(command)));
    }
    found_->setCurrentRow(0);
}

void CommandPalette::carry_out() {
    const QListWidgetItem* item = found_->currentItem();
    if (item == nullptr) return;
    auto* command = static_cast<QAction*>(item->data(Qt::UserRole).value<void*>());
    close();
    command->trigger();
}

bool CommandPalette::eventFilter(QObject*, QEvent* event) {
    if (event->type() != QEvent::KeyPress) return false;
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key != Qt::Key_Up && key != Qt::Key_Down) return false;
    const int by = key == Qt::Key_Up ? -1 : 1;
    found_->setCurrentRow(
        std::clamp(found_->currentRow() + by, 0, std::max(found_->count() - 1, 0)));
    return true;
}

}  // namespace debubble::gui
