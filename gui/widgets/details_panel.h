#pragma once

#include <QCoreApplication>
#include <QWidget>

class QLabel;
class QLineEdit;
class QTreeWidget;

namespace debubble::gui {

class TimelineView;

/// What is selected or measured, in words; and a search over the actions.
class DetailsPanel : public QWidget {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::DetailsPanel)

public:
    explicit DetailsPanel(TimelineView* timeline, QWidget* parent = nullptr);
    void focus_search();

private:
    void refresh();

    TimelineView* timeline_;
    QLineEdit* search_ = nullptr;
    QLabel* hits_ = nullptr;
    QTreeWidget* rows_ = nullptr;
};

}  // namespace debubble::gui
