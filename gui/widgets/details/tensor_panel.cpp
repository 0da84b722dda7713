#include "gui/widgets/details/tensor_panel.h"

#include <QHeaderView>

#include "text/wording.h"

namespace debubble::gui {

TensorPanel::TensorPanel(QWidget* parent) : QTreeWidget(parent) {
    setObjectName("tensor-rows");
    setAccessibleName(tr("What a rank holds at its peak"));
    setHeaderLabels({tr("held at the peak"), tr("size"), tr("share"), tr("stage"), tr("microbatch"),
                     tr("born"), tr("dies")});
    setUniformRowHeights(true);
    setAllColumnsShowFocus(true);
    header()->setStretchLastSection(false);
    worker_ = std::make_unique<LatestWins<Question, Result>>(
        [](const Question& question, const std::stop_token& stop) {
            return Result{question, held_at_peak(*question.plan, Rank{question.rank}, stop)};
        },
        [this](Result result) {
            QMetaObject::invokeMethod(
                this, [this, result = std::move(result)] { show_result(result); },
                Qt::QueuedConnection);
        });
    say(tr("Click the dot on a memory lane: what is held there is listed here"));
}

TensorPanel::~TensorPanel() = default;

void TensorPanel::list(std::shared_ptr<const PredictedPlan> plan, int rank) {
    question_ = {std::move(plan), rank};
    asked_ = false;
    if (!question_.plan) return say(tr("A trace does not say which tensors it held"));
    ask();
}

void TensorPanel::set_plan(std::shared_ptr<const PredictedPlan> plan) {
    if (!question_.plan || question_.plan == plan) return;
    const int rank = question_.rank;
    if (!plan) {
        question_ = {};
        worker_->forget();
        return say(tr("Click the dot on a memory lane: what is held there is listed here"));
    }
    question_ = {std::move(plan), rank};
    asked_ = false;
    setEnabled(false);  // the rows are those of the previous plan
    if (isVisible()) ask();
}

void TensorPanel::ask() {
    if (!question_.plan || asked_) return;
    asked_ = true;
    worker_->ask(question_);
}

void TensorPanel::showEvent(QShowEvent* event) {
    QTreeWidget::showEvent(event);
    ask();
}

void TensorPanel::show_result(const Result& result) {
    if (result.of.plan != question_.plan || result.of.rank != question_.rank) return;
    setEnabled(true);
    if (!result.held) return say(tr("This plan has no rank %1").arg(question_.rank));
    clear();
    headerItem()->setText(0, tr("rank %1: %2")
                                 .arg(result.held->rank.index)
                                 .arg(QString::fromStdString(result.held->when)));
    for (const HeldRow& row : result.held->rows) add(row, nullptr, result.held->bytes);
    for (int i = 0; i < topLevelItemCount(); ++i) topLevelItem(i)->setExpanded(i == 0);
    for (int column = 0; column < columnCount(); ++column) resizeColumnToContents(column);
    Q_EMIT listed();
}

void TensorPanel::add(const HeldRow& row, QTreeWidgetItem* parent, Bytes all) {
    const auto words = [](const std::string& text) { return QString::fromStdString(text); };
    const double share = double(row.bytes.count) / double(std::max<std::int64_t>(all.count, 1));
    const QStringList cells{words(row.name),
                            words(text::size_text(row.bytes)),
                            words(text::percent(share)),
                            words(row.stage),
                            words(row.micro_batch),
                            words(row.born),
                            words(row.dies)};
    auto* item =
        parent != nullptr ? new QTreeWidgetItem(parent, cells) : new QTreeWidgetItem(this, cells);
    for (const int column : {1, 2}) item->setTextAlignment(column, Qt::AlignRight);
    for (const HeldRow& part : row.parts) add(part, item, all);
}

void TensorPanel::say(const QString& words) {
    clear();
    headerItem()->setText(0, tr("held at the peak"));
    auto* item = new QTreeWidgetItem(this, {words});
    item->setFirstColumnSpanned(true);
}

}  // namespace debubble::gui
