#include "gui/widgets/what_if/summary_panel.h"

#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>

#include "gui/widgets/colours.h"

namespace debubble::gui {
namespace {

constexpr int kShare = Qt::UserRole;

/// Draws a bar in the background of the text, as long as the share of the step.
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
    setItemDelegate(new ShareDelegate(this));
    header()->setStretchLastSection(true);
    header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
}

void SummaryPanel::show_rows(const std::vector<SummaryRow>& rows) {
    clear();
    for (const SummaryRow& row : rows) {
        auto* item = new QTreeWidgetItem(
            this, {QString::fromStdString(row.name), QString::fromStdString(row.value)});
        item->setToolTip(1, QString::fromStdString(row.value));
        if (row.value.empty()) {
            QFont bold = font();
            bold.setBold(true);
            item->setFont(0, bold);
            item->setFirstColumnSpanned(true);
        }
        if (row.bad) item->setForeground(1, warning_colour(palette()));
        if (row.share >= 0) item->setData(1, kShare, row.share);
        if (row.name.empty()) {
            item->setText(0, QString::fromStdString(row.value));
            item->setToolTip(0, QString::fromStdString(row.value));
            item->setFirstColumnSpanned(true);
        }
    }
}

void SummaryPanel::set_stale(bool stale) {
    setEnabled(!stale);
}

}  // namespace debubble::gui
