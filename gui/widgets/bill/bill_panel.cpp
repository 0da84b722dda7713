#include "gui/widgets/bill/bill_panel.h"

#include <algorithm>

#include <QEvent>
#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>

#include "base/diagnostic.h"
#include "gui/widgets/colours.h"

namespace debubble::gui {
namespace {

constexpr int kFrom = Qt::UserRole;
constexpr int kTo = Qt::UserRole + 1;
constexpr int kLightInk = Qt::UserRole + 2;
constexpr int kDarkInk = Qt::UserRole + 3;
constexpr int kWaterfall = 1;  ///< the column of bars

/// Draws the bar of a part, from where the parts before it end.
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

QColor colour_of(Rgb rgb) {
    return {rgb.red, rgb.green, rgb.blue};
}

}  // namespace

BillPanel::BillPanel(QWidget* parent) : QTreeWidget(parent) {
    setObjectName("bill");
    setAccessibleName(tr("Where the step goes"));
    setHeaderLabels({tr("part of the step"), tr("from the ideal to the step"), tr("takes"),
                     tr("step if it were free")});
    setRootIsDecorated(false);
    setAllColumnsShowFocus(true);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setItemDelegateForColumn(kWaterfall, new WaterfallDelegate(this));
    header()->setStretchLastSection(false);
    header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    header()->setSectionResizeMode(kWaterfall, QHeaderView::Stretch);
    worker_ = std::make_unique<LatestWins<Plan, Made>>(
        [](const Plan& plan, const std::stop_token& stop) { return made_of(plan, stop); },
        [this](Made made) {
            QMetaObject::invokeMethod(
                this, [this, made = std::move(made)] { take(made); }, Qt::QueuedConnection);
        });
    say(tr("No plan is open"));
}

BillPanel::~BillPanel() = default;

BillPanel::Made BillPanel::made_of(const Plan& plan, const std::stop_token& stop) {
    try {
        return {plan, sim::bill_rows(sim::bill_of_plan(plan->played, stop)), {}};
    } catch (const InputError& error) {
        return {plan, {}, error.diagnostics().front().message};
    }
}

void BillPanel::set_plan(std::shared_ptr<const PredictedPlan> plan) {
    if (plan_ == plan) return;
    plan_ = std::move(plan);
    asked_ = nullptr;
    if (!plan_) return say(tr("No plan is open"));
    setEnabled(false);  // the rows are those of the plan before
    if (isVisible()) ask();
}

void BillPanel::ask() {
    if (!plan_ || asked_ == plan_) return;
    asked_ = plan_;
    if (topLevelItemCount() < 2) say(tr("The plan is played again without each of its costs ..."));
    worker_->ask(plan_);
}

void BillPanel::take(const Made& made) {
    if (made.plan != plan_) return;
    clear();
    setEnabled(true);
    if (!made.mistake.empty()) return say(QString::fromStdString(made.mistake));
    QFont bold = font();
    bold.setBold(true);
    for (const sim::BillRow& row : made.rows) {
        auto* item = new QTreeWidgetItem(this, {QString::fromStdString(row.name),
                                                {},
                                                QString::fromStdString(row.takes),
                                                QString::fromStdString(row.if_free)});
        item->setData(kWaterfall, kFrom, row.from);
        item->setData(kWaterfall, kTo, row.to);
        item->setData(kWaterfall, kLightInk, colour_of(row.light));
        item->setData(kWaterfall, kDarkInk, colour_of(row.dark));
        if (!row.freed.empty())
            item->setToolTip(3, tr("Played again: %1").arg(QString::fromStdString(row.freed)));
        if (row.whole)
            for (int column = 0; column < 4; ++column) item->setFont(column, bold);
    }
    Q_EMIT made_rows();
}

void BillPanel::say(const QString& words) {
    clear();
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
