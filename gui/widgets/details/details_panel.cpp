#include "gui/widgets/details/details_panel.h"

#include <algorithm>
#include <iterator>

#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "gui/viewmodel/what_if/answer.h"
#include "gui/viewmodel/what_if/pass_cost.h"
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
    rows_->setObjectName("details-rows");
    rows_->setAccessibleName(tr("Details"));
    rows_->setColumnCount(2);
    rows_->setHeaderHidden(true);
    rows_->setIndentation(12);
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

void DetailsPanel::set_plan(std::shared_ptr<const PredictedPlan> plan) {
    plan_ = std::move(plan);
    cost_of_ = {};
    cost_.clear();
    refresh();
}

/// The cost is computed once per action, since every move of the pointer shows it again.
std::vector<Detail> DetailsPanel::cost_of(const SpanRef& ref) const {
    const Document& document = timeline_->scene().layer(ref.side).document;
    if (!plan_ || document != plan_->document) return {};
    if (cost_of_ == std::pair(document, ref.index)) return cost_;
    const Span& span = document->span(ref.index);
    cost_ = details_of_cost(plan_->played, document->trace.program, span.action, span.rank);
    cost_of_ = {document, ref.index};
    return cost_;
}

std::vector<Detail> DetailsPanel::details() const {
    std::vector<Detail> details = timeline_->details();
    const ViewState& state = timeline_->state();
    const auto* ref = std::get_if<SpanRef>(&state.selection);
    if (ref != nullptr && !state.measured && !details.empty())
        std::ranges::move(cost_of(*ref), std::back_inserter(details));
    return details;
}

void DetailsPanel::add(const Detail& detail, QTreeWidgetItem* parent) {
    const QString value = QString::fromStdString(detail.value);
    auto* item = new QTreeWidgetItem({QString::fromStdString(detail.name), value});
    item->setToolTip(1, value);
    if (parent != nullptr)
        parent->addChild(item);
    else
        rows_->addTopLevelItem(item);
    for (const Detail& part : detail.parts) add(part, item);
    item->setExpanded(parent == nullptr);
}

void DetailsPanel::refresh() {
    std::vector<Detail> details = this->details();
    if (shown_ == details) return;  // entries that the user has opened stay open
    shown_ = std::move(details);
    rows_->clear();
    rows_->setRootIsDecorated(
        std::ranges::any_of(*shown_, [](const Detail& detail) { return !detail.parts.empty(); }));
    for (const Detail& detail : *shown_) add(detail, nullptr);
    if (rows_->topLevelItemCount() > 0) return;
    auto* hint =
        new QTreeWidgetItem(rows_, {tr("Click an action or a bubble, press B for the next bubble, "
                                       "or drag to measure")});
    hint->setFirstColumnSpanned(true);
}

}  // namespace debubble::gui
