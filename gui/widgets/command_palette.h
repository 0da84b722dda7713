#pragma once

#include <QCoreApplication>
#include <QDialog>
#include <QList>

class QAction;
class QLineEdit;
class QListWidget;

namespace debubble::gui {

/// All commands. Typing some letters of a name in order finds it.
class CommandPalette : public QDialog {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::CommandPalette)

public:
    CommandPalette(const QList<QAction*>& commands, QWidget* parent);

    void popup();  ///< opens at the top of the parent, centred

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    void fill(const QString& wanted);
    void carry_out();

    QList<QAction*> commands_;
    QLineEdit* wanted_ = nullptr;
    QListWidget* found_ = nullptr;
};

}  // namespace debubble::gui
