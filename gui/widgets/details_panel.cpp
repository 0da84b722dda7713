#include "gui/widgets/details_panel.h"

#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "gui/widgets/timeline/timeline_view.h"

namespace debubble::gui {

DetailsPanel::DetailsPanel(TimelineView* timeline, QWidget* parent)
    : QWidget(parent),
      timeline_(timeline),
      search_(new QLineEdit),
      hits_(new QLabel),
      rows_(new QTreeWidget) {
    search_->setObjectName("search");
    search_->setAccessibleName(tr("Search for actions"));
    search_->setPlaceholderText(tr("Search: 2F0, bubble link, rank 3 > 5 ms"));
    search_->setClearButtonEnabled(true);
    hits_->setWordWrap(true);
    hits_->hide();
    rows_->setAccessibleName(tr("Details"));
    rows_->setColumnCount(2);
    rows_->setHeaderHidden(true);
    rows_->setRootIsDecorated(false);
    rows_->setWordWrap(true);
    rows_->setSelectionMode(QAbstractItemView::NoSelection);
    rows_->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(2, 2, 2, 2);
    column->addWidget(search_);
    column->addWidget(hits_);
    column->addWidget(rows_);
    connect(search_, &QLineEdit::textChanged, timeline_, &TimelineView::search);
    connect(search_, &QLineEdit::returnPressed, timeline_, &TimelineView::next_hit);
    connect(timeline_, &TimelineView::searched, this,
            [this](qulonglong hits, const QString& mistake) {
                hits_->setVisible(!search_->text().isEmpty());
                hits_->setText(mistake.isEmpty() ? tr("%n hit(s)", nullptr, int(hits)) : mistake);
            });
    connect(timeline_, &TimelineView::span_selected, this, [this] { refresh(); });
    connect(timeline_, &TimelineView::range_measured, this, [this] { refresh(); });
    connect(timeline_, &TimelineView::state_changed, this, [this] { refresh(); });
    refresh();
}

void DetailsPanel::focus_search() {
    search_->setFocus();
    search_->selectAll();
}

void DetailsPanel::refresh() {
    rows_->clear();
    for (const Detail& detail : timeline_->details()) {
        const QString value = QString::fromStdString(detail.value);
        auto* item = new QTreeWidgetItem(rows_, {QString::fromStdString(detail.name), value});
        item->setToolTip(1, value);
    }
    if (rows_->topLevelItemCount() > 0) return;
    auto* hint =
        new QTreeWidgetItem(rows_, {tr("Click an action or a bubble, or drag to measure")});
    hint->setFirstColumnSpanned(true);
}

}  // namespace debubble::gui
