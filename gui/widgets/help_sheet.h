#pragma once

#include <QCoreApplication>
#include <QDialog>
#include <QList>

class QAction;

namespace debubble::gui {

/// What the keys do and what the colours mean.
class HelpSheet : public QDialog {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::HelpSheet)

public:
    HelpSheet(const QList<QAction*>& commands, QWidget* parent);
};

}  // namespace debubble::gui
