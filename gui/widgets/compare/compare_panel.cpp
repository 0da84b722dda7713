#include "gui/widgets/compare/compare_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>

#include "gui/widgets/compare/error_tables.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace debubble::gui {

ComparePanel::ComparePanel(TimelineView* timeline, QWidget* parent)
    : QWidget(parent),
      timeline_(timeline),
      figures_(new FiguresTable),
      errors_(new ErrorTable),
      worst_(new WorstTable) {
    alignment_ = new QComboBox;
    alignment_->setObjectName("compare-alignment");
    alignment_->setAccessibleName(tr("Instant that the traces are aligned at"));
    alignment_->addItems({tr("Start of the step"), tr("Optimizer step"), tr("Selected action")});
    only_ = new QCheckBox(tr("Only differences of at least"));
    threshold_ = new QDoubleSpinBox;
    threshold_->setObjectName("compare-threshold");
    threshold_->setAccessibleName(tr("Smallest difference that is shown"));
    threshold_->setRange(0, 1000);
    threshold_->setValue(100 * ComparisonChoices{}.threshold);
    threshold_->setSuffix(" %");
    by_error_ = new QCheckBox(tr("Colour by error"));
    by_error_->setObjectName("compare-by-error");
    by_error_->setToolTip(tr("Blue: A is shorter than B; red: it is longer; full at 30 %"));
    text_ = new QPlainTextEdit;
    text_->setObjectName("compare-text");
    text_->setAccessibleName(tr("Differences in words"));
    text_->setReadOnly(true);
    text_->setTabChangesFocus(true);
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
    row->addSpacing(16);
    row->addWidget(by_error_);
    row->addStretch();
    auto* tables = new QSplitter;
    tables->addWidget(figures_);
    tables->addWidget(errors_);
    tables->addWidget(worst_);
    tables->setSizes({360, 390, 340});
    auto* pages = new QTabWidget;
    pages->setAccessibleName(tr("Tables, or the same in words"));
    pages->setTabPosition(QTabWidget::East);
    pages->setDocumentMode(true);
    pages->addTab(tables, tr("Tables"));
    pages->addTab(text_, tr("In words"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 4, 4, 4);
    column->addLayout(row);
    column->addWidget(pages);
    connect(alignment_, &QComboBox::activated, this, [this] { choose(); });
    connect(only_, &QCheckBox::toggled, this, [this] { choose(); });
    connect(threshold_, &QDoubleSpinBox::valueChanged, this, [this] { choose(); });
    connect(by_error_, &QCheckBox::toggled, this,
            [this](bool on) { timeline_->set_colour_by(on ? ColourBy::Error : ColourBy::Kind); });
    connect(worst_, &WorstTable::chosen, this, [this](quint32 span) {
        timeline_->show_action({span, Side::A});
    });
    connect(timeline_, &TimelineView::state_changed, this, [this] { follow(); });
}

void ComparePanel::show_comparison(const Pairing& pairing, const TimelineDocument& a,
                                   const std::vector<ComparedRow>& figures,
                                   const std::string& words) {
    figures_->show_rows(figures);
    errors_->show_errors(pairing);
    worst_->show_worst(pairing, a);
    const bool of_run = pairing.alike == Common::Program;
    by_error_->setText(of_run ? tr("Colour by error") : tr("Colour by change"));
    // Plans without a common action have no errors to colour or to filter by.
    for (QWidget* widget : std::initializer_list<QWidget*>{by_error_, only_, threshold_})
        widget->setEnabled(pairing.alike != Common::Nothing);
    text_->setPlainText(QString::fromStdString(words));
}

void ComparePanel::choose() {
    timeline_->set_comparison_choices({static_cast<Alignment>(alignment_->currentIndex()),
                                       only_->isChecked(), threshold_->value() / 100});
}

void ComparePanel::follow() {
    const QSignalBlocker quiet(by_error_);
    by_error_->setChecked(timeline_->state().colour_by == ColourBy::Error);
}

}  // namespace debubble::gui
