#pragma once

#include <QCoreApplication>
#include <QDialog>
#include <QList>

#include "gui/widgets/window_view.h"

class QAction;

namespace debubble::gui {

/// The help: views, keys, and the meaning of colours and words.
class HelpSheet : public QDialog {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::HelpSheet)

public:
    HelpSheet(const std::vector<std::unique_ptr<WindowView>>& views,
              const QList<QAction*>& commands, QWidget* parent);
};

}  // namespace debubble::gui
