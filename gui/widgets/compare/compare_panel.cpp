#include "gui/widgets/compare/compare_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QVBoxLayout>

namespace debubble::gui {

ComparePanel::ComparePanel(QWidget* parent) : QWidget(parent) {
    alignment_ = new QComboBox;
    alignment_->setObjectName("compare-alignment");
    alignment_->setAccessibleName(tr("What is laid on what"));
    alignment_->addItems({tr("Start of the step"), tr("Optimizer step"), tr("Selected action")});
    only_ = new QCheckBox(tr("Only differences of at least"));
    threshold_ = new QDoubleSpinBox;
    threshold_->setObjectName("compare-threshold");
    threshold_->setAccessibleName(tr("Least difference that is shown"));
    threshold_->setRange(0, 1000);
    threshold_->setValue(100 * ComparisonChoices{}.threshold);
    threshold_->setSuffix(" %");
    text_ = new QPlainTextEdit;
    text_->setObjectName("compare-text");
    text_->setAccessibleName(tr("Differences in words"));
    text_->setReadOnly(true);
    text_->setLineWrapMode(QPlainTextEdit::NoWrap);
    text_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    text_->setPlaceholderText(
        tr("Open two traces, or run the plan: what was simulated lies above what was executed"));
    auto* row = new QHBoxLayout;
    row->addWidget(new QLabel(tr("Align by")));
    row->addWidget(alignment_);
    row->addSpacing(16);
    row->addWidget(only_);
    row->addWidget(threshold_);
    row->addStretch();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 4, 4, 4);
    column->addLayout(row);
    column->addWidget(text_);
    connect(alignment_, &QComboBox::activated, this, [this] { choose(); });
    connect(only_, &QCheckBox::toggled, this, [this] { choose(); });
    connect(threshold_, &QDoubleSpinBox::valueChanged, this, [this] { choose(); });
}

void ComparePanel::show_text(const std::string& text) {
    text_->setPlainText(QString::fromStdString(text));
}

void ComparePanel::choose() {
    if (!on_choice) return;
    on_choice({static_cast<Alignment>(alignment_->currentIndex()), only_->isChecked(),
               threshold_->value() / 100});
}

}  // namespace debubble::gui
