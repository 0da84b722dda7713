#pragma once

#include <vector>

#include <QCoreApplication>
#include <QTreeWidget>

#include "gui/viewmodel/what_if/figures.h"

namespace debubble::gui {

/// The figures of a plan, and bars for the parts of its step.
class SummaryPanel : public QTreeWidget {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::SummaryPanel)

public:
    explicit SummaryPanel(QWidget* parent = nullptr);
    void show_rows(const std::vector<SummaryRow>& rows);
    /// Greys outdated figures.
    void set_stale(bool stale);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    /// Gives names at most half of the width. Longer texts are wrapped.
    void divide_width();
};

}  // namespace debubble::gui
