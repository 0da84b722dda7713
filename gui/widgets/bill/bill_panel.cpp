#include "gui/widgets/bill/bill_panel.h"

#include <algorithm>

#include <QEvent>
#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>

#include "base/diagnostic.h"
#include "gui/viewmodel/timeline/words.h"
#include "gui/viewmodel/what_if/bill_words.h"
#include "gui/viewmodel/what_if/field.h"
#include "gui/widgets/colours.h"

namespace debubble::gui {
namespace {

constexpr int kFrom = Qt::UserRole;
constexpr int kTo = Qt::UserRole + 1;
constexpr int kLightInk = Qt::UserRole + 2;
constexpr int kDarkInk = Qt::UserRole + 3;
constexpr int kPart = Qt::UserRole + 4;
constexpr int kWaterfall = 1;  ///< the column of bars
constexpr int kIfFree = 3;
constexpr int kKnob = 4;
constexpr int kColumns = 5;

/// Draws the bar of a part, which begins at the end of the previous part.
class WaterfallDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        QStyledItemDelegate::paint(painter, option, index);
        const QRectF place = QRectF(option.rect).adjusted(6, 3, -6, -3);
        const double from = index.data(kFrom).toDouble();
        const double to = index.data(kTo).toDouble();
        QRectF bar = place;
        bar.setLeft(place.left() + place.width() * from);
        bar.setRight(std::max(place.left() + place.width() * to, bar.left() + 1));
        const int role = is_dark(option.palette) ? kDarkInk : kLightInk;
        painter->fillRect(bar, index.data(role).value<QColor>());
    }
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        return QStyledItemDelegate::sizeHint(option, index) + QSize(0, 8);
    }
};

}  // namespace

BillPanel::BillPanel(QWidget* parent) : QTreeWidget(parent) {
    setObjectName("bill");
    setAccessibleName(tr("Where the step goes"));
    setHeaderLabels({tr("part of the step"), tr("waterfall"), tr("takes"),
                     tr("step if it were free"), tr("knob, for the same tokens")});
    setRootIsDecorated(false);
    setAllColumnsShowFocus(true);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setItemDelegateForColumn(kWaterfall, new WaterfallDelegate(this));
    header()->setStretchLastSection(false);
    header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    header()->setMinimumSectionSize(70);
    header()->setSectionResizeMode(kWaterfall, QHeaderView::Stretch);
    setMouseTracking(true);
    connect(this, &QTreeWidget::itemEntered, this, &BillPanel::look_at);
    connect(this, &QTreeWidget::currentItemChanged, this, &BillPanel::look_at);
    connect(this, &QTreeWidget::itemActivated, this, &BillPanel::turn);
    connect(this, &QTreeWidget::itemClicked, this, [this](QTreeWidgetItem* item, int column) {
        if (column == kKnob) turn(item);
    });
    knob_worker_ = std::make_unique<LatestWins<Question, KnobResult>>(
        [](const Question& question, const std::stop_token& stop) {
            try {
                return KnobResult{question.plan, knobs_of(question.source, question.bill,
                                                          question.plan->prediction, stop)};
            } catch (const InputError&) {
                return KnobResult{question.plan, {}};
            }
        },
        [this](KnobResult found) {
            QMetaObject::invokeMethod(
                this, [this, found = std::move(found)] { show_knobs(found); },
                Qt::QueuedConnection);
        });
    worker_ = std::make_unique<LatestWins<Plan, Result>>(
        [](const Plan& plan, const std::stop_token& stop) { return result_of(plan, stop); },
        [this](Result result) {
            QMetaObject::invokeMethod(
                this, [this, result = std::move(result)] { take(result); }, Qt::QueuedConnection);
        });
    say(tr("No plan is open"));
}

BillPanel::~BillPanel() = default;

BillPanel::Result BillPanel::result_of(const Plan& plan, const std::stop_token& stop) {
    try {
        sim::Bill bill = sim::bill_of_plan(plan->played, stop);
        std::vector<sim::BillRow> rows = sim::bill_rows(bill);
        return {plan, std::move(bill), std::move(rows), {}};
    } catch (const InputError& error) {
        return {plan, {}, {}, error.diagnostics().front().message};
    }
}

void BillPanel::set_plan(std::shared_ptr<const PredictedPlan> plan, const ScenarioText& source) {
    if (plan_ == plan) return;
    plan_ = std::move(plan);
    source_ = source;
    knobs_.clear();
    knob_worker_->forget();
    asked_ = nullptr;
    if (!plan_) return say(tr("No plan is open"));
    setEnabled(false);  // the rows are those of the previous plan
    if (isVisible()) ask();
}

void BillPanel::ask() {
    if (!plan_ || asked_ == plan_) return;
    asked_ = plan_;
    if (topLevelItemCount() < 2) say(tr("The plan is played again without each of its costs ..."));
    worker_->ask(plan_);
}

void BillPanel::take(const Result& result) {
    if (result.plan != plan_) return;
    const int chosen = currentItem() != nullptr ? indexOfTopLevelItem(currentItem()) : -1;
    clear();
    setEnabled(true);
    if (!result.mistake.empty()) return say(QString::fromStdString(result.mistake));
    QFont bold = font();
    bold.setBold(true);
    rows_ = result.rows;
    for (const sim::BillRow& row : rows_) {
        auto* item =
            new QTreeWidgetItem(this, {QString::fromStdString(said("bill", row.part.words)),
                                       {},
                                       QString::fromStdString(takes_words(row)),
                                       QString::fromStdString(without_part_text(row))});
        item->setData(0, kPart, QString::fromStdString(row.part.key));
        item->setData(kWaterfall, kFrom, row.from);
        item->setData(kWaterfall, kTo, row.to);
        item->setData(kWaterfall, kLightInk, colour_of(row.light));
        item->setData(kWaterfall, kDarkInk, colour_of(row.dark));
        if (!row.part.freed.empty())
            item->setToolTip(
                kIfFree,
                tr("Played again: %1").arg(QString::fromStdString(said("bill", row.part.freed))));
        if (row.whole)
            for (int column = 0; column < kColumns; ++column) item->setFont(column, bold);
    }
    if (chosen >= 0 && chosen < topLevelItemCount()) setCurrentItem(topLevelItem(chosen));
    Q_EMIT rows_ready();
    if (!source_.text.empty()) knob_worker_->ask({plan_, source_, result.bill});
}

void BillPanel::show_knobs(const KnobResult& found) {
    if (found.plan != plan_) return;
    knobs_ = found.knobs;
    const QColor link = palette().color(QPalette::Link);
    for (const Knob& knob : knobs_)
        for (int i = 0; i < topLevelItemCount(); ++i) {
            QTreeWidgetItem* item = topLevelItem(i);
            if (item->data(0, kPart).toString().toStdString() != knob.part) continue;
            item->setText(kKnob, QString::fromStdString(knob.words));
            item->setForeground(kKnob, link);
            item->setToolTip(kKnob, tr("A click sets %1 to %2; undo takes it back")
                                        .arg(QString::fromStdString(knob.change.first),
                                             QString::fromStdString(knob.change.second)));
        }
    Q_EMIT knobs_ready();
}

void BillPanel::turn(QTreeWidgetItem* row) {
    const std::string part = row->data(0, kPart).toString().toStdString();
    for (const Knob& knob : knobs_)
        if (knob.part == part && !part.empty())
            return Q_EMIT turned(with_change(source_, knob.change.first, knob.change.second),
                                 QString::fromStdString(knob.change.first));
}

void BillPanel::look_at(const QTreeWidgetItem* row) {
    const int at = row == nullptr ? -1 : indexOfTopLevelItem(const_cast<QTreeWidgetItem*>(row));
    const bool is_part = at >= 0 && at < static_cast<int>(rows_.size());
    Q_EMIT looked_at(is_part ? &rows_[at] : nullptr);
}

/// The part with the keyboard focus stays highlighted.
void BillPanel::leaveEvent(QEvent* event) {
    QTreeWidget::leaveEvent(event);
    look_at(hasFocus() ? currentItem() : nullptr);
}

void BillPanel::say(const QString& words) {
    clear();
    rows_.clear();
    auto* item = new QTreeWidgetItem(this, {words});
    item->setFirstColumnSpanned(true);
}

void BillPanel::showEvent(QShowEvent* event) {
    QTreeWidget::showEvent(event);
    ask();
}

void BillPanel::changeEvent(QEvent* event) {
    QTreeWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) viewport()->update();
}

}  // namespace debubble::gui
