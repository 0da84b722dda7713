#pragma once

#include <QCoreApplication>
#include <QDialog>
#include <QList>

class QAction;

namespace debubble::gui {

/// The meaning of the keys and of the colours.
class HelpSheet : public QDialog {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::HelpSheet)

public:
    HelpSheet(const QList<QAction*>& commands, QWidget* parent);
};

}  // namespace debubble::gui
