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

/// The alignment of two timelines, and their differences as tables and in words.
class ComparePanel : public QWidget {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::ComparePanel)

public:
    explicit ComparePanel(TimelineView* timeline, QWidget* parent = nullptr);
    /// `words` is the output of `debubble compare` about them.
    void show_comparison(const Pairing& pairing, const TimelineDocument& a,
                         const std::vector<ComparedRow>& figures, const std::string& words);

private:
    void choose();
    void follow();  ///< shows choices made elsewhere

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
