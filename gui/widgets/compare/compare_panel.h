#pragma once

#include <functional>

#include <QCoreApplication>
#include <QWidget>

#include "gui/viewmodel/timeline/scene.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QPlainTextEdit;

namespace debubble::gui {

/// How two timelines are laid beside each other, and their differences in words.
class ComparePanel : public QWidget {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::ComparePanel)

public:
    explicit ComparePanel(QWidget* parent = nullptr);
    void show_text(const std::string& text);

    std::function<void(const ComparisonChoices&)> on_choice;

private:
    void choose();

    QComboBox* alignment_ = nullptr;
    QCheckBox* only_ = nullptr;
    QDoubleSpinBox* threshold_ = nullptr;
    QPlainTextEdit* text_ = nullptr;
};

}  // namespace debubble::gui
