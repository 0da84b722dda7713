#include "gui/widgets/what_if/summary_panel.h"

#include <algorithm>

#include <QEvent>
#include <QHeaderView>
#include <QPainter>
#include <QStyle>
#include <QStyledItemDelegate>

#include "gui/widgets/colours.h"

namespace debubble::gui {
namespace {

constexpr int kShare = Qt::UserRole;

/// Draws a bar behind the text, as long as the share of the step.
class ShareDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const QVariant share = index.data(kShare);
        if (share.isValid()) {
            QRectF bar = QRectF(option.rect).adjusted(0, 2, 0, -2);
            bar.setWidth(bar.width() * share.toDouble());
            painter->fillRect(bar, between(option.palette.color(QPalette::Base),
                                           option.palette.color(QPalette::Highlight), 0.45));
        }
        QStyledItemDelegate::paint(painter, option, index);
    }

    /// The height for the column's width. A tree asks without a width, which would give one line.
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const auto* tree = static_cast<const QTreeWidget*>(parent());
        QStyleOptionViewItem item = option;
        initStyleOption(&item, index);
        const int margin = tree->style()->pixelMetric(QStyle::PM_FocusFrameHMargin) + 1;
        const bool spans = tree->isFirstColumnSpanned(index.row(), index.parent());
        int width = spans ? tree->viewport()->width() : tree->columnWidth(index.column());
        width -= 2 * margin + (index.column() == 0 ? tree->indentation() : 0);
        const QRect lines = QFontMetrics(item.font).boundingRect(
            QRect(0, 0, std::max(width, 1), QWIDGETSIZE_MAX), Qt::TextWordWrap, item.text);
        const QSize usual = QStyledItemDelegate::sizeHint(option, index);
        return {usual.width(), std::max(usual.height(), lines.height())};
    }
};

}  // namespace

SummaryPanel::SummaryPanel(QWidget* parent) : QTreeWidget(parent) {
    setAccessibleName(tr("Summary"));
    setColumnCount(2);
    setHeaderHidden(true);
    setRootIsDecorated(false);
    setIndentation(8);
    setUniformRowHeights(false);
    setWordWrap(true);
    setSelectionMode(QAbstractItemView::NoSelection);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setItemDelegate(new ShareDelegate(this));
    header()->setStretchLastSection(false);
    header()->setSectionResizeMode(QHeaderView::Fixed);
    header()->setMinimumSectionSize(1);
}

void SummaryPanel::divide_width() {
    int widest = 0;
    for (int row = 0; row < topLevelItemCount(); ++row)
        if (const QTreeWidgetItem* item = topLevelItem(row); !item->isFirstColumnSpanned())
            widest = std::max(widest, fontMetrics().horizontalAdvance(item->text(0)));
    const int margin = indentation() + 3 * fontMetrics().averageCharWidth();
    const int names = std::min(widest + margin, viewport()->width() / 2);
    header()->resizeSection(0, names);
    header()->resizeSection(1, viewport()->width() - names);
    scheduleDelayedItemsLayout();  // the lines of a row depend on the width
}

void SummaryPanel::resizeEvent(QResizeEvent* event) {
    QTreeWidget::resizeEvent(event);
    divide_width();
}

void SummaryPanel::changeEvent(QEvent* event) {
    QTreeWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) divide_width();
}

void SummaryPanel::show_rows(const std::vector<SummaryRow>& rows) {
    clear();
    for (const SummaryRow& row : rows) {
        auto* item = new QTreeWidgetItem(
            this, {QString::fromStdString(row.name), QString::fromStdString(row.value)});
        item->setToolTip(0, QString::fromStdString(row.name));
        item->setToolTip(1, QString::fromStdString(row.more.empty() ? row.value : row.more));
        if (row.value.empty()) {
            QFont bold = font();
            bold.setBold(true);
            item->setFont(0, bold);
            item->setFirstColumnSpanned(true);
        }
        if (row.bad) item->setForeground(1, warning_colour(palette()));
        if (row.share) item->setData(1, kShare, *row.share);
        if (row.name.empty()) {
            item->setText(0, QString::fromStdString(row.value));
            item->setToolTip(0, QString::fromStdString(row.value));
            item->setFirstColumnSpanned(true);
        }
    }
    divide_width();
}

void SummaryPanel::set_stale(bool stale) {
    setEnabled(!stale);
}

}  // namespace debubble::gui
