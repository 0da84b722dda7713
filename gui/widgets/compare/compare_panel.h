#pragma once

#include <functional>
#include <string>

#include <QCoreApplication>
#include <QWidget>

#include "gui/viewmodel/timeline/pairing.h"
#include "gui/viewmodel/what_if/figures.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QPlainTextEdit;

namespace debubble::gui {

class ErrorTable;
class FiguresTable;
class TimelineView;
class WorstTable;

/// How two timelines are laid beside each other, and their differences as tables and in words.
class ComparePanel : public QWidget {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::ComparePanel)

public:
    explicit ComparePanel(TimelineView* timeline, QWidget* parent = nullptr);
    /// `words`: what `debubble compare` says of them.
    void show_comparison(const Pairing& pairing, const TimelineDocument& a,
                         const std::vector<BesideRow>& figures, const std::string& words);

private:
    void choose();
    void follow();  ///< what was chosen elsewhere

    TimelineView* timeline_;
    QComboBox* alignment_ = nullptr;
    QCheckBox* only_ = nullptr;
    QDoubleSpinBox* threshold_ = nullptr;
    QCheckBox* by_error_ = nullptr;
    FiguresTable* figures_ = nullptr;
    ErrorTable* errors_ = nullptr;
    WorstTable* worst_ = nullptr;
    QPlainTextEdit* text_ = nullptr;
};

}  // namespace debubble::gui
