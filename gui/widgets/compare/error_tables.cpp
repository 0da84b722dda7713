#include "gui/widgets/compare/error_tables.h"

#include <fmt/format.h>
#include <QHeaderView>

#include "gui/widgets/colours.h"
#include "text/wording.h"
#include "trace/picture/colours.h"

namespace debubble::gui {
namespace {

constexpr int kSpan = Qt::UserRole;

QString time_of(Duration time) {
    return QString::fromStdString(text::time_text(time));
}

QString percent_of(const std::optional<double>& error, bool signed_one) {
    if (!error) return QStringLiteral("-");
    return QString::fromStdString(signed_one ? fmt::format("{:+.1f} %", 100 * *error)
                                             : fmt::format("{:.1f} %", 100 * *error));
}

/// Writes an error in its colour of the timeline.
void paint_error(QTreeWidgetItem& item, int column, const std::optional<double>& error) {
    if (!error) return;
    const QPalette& palette = item.treeWidget()->palette();
    const Theme theme = is_dark(palette) ? Theme::Dark : Theme::Light;
    const Rgb colour = colour_of_error(*error, theme);
    const Rgb ink = ink_on(colour);
    item.setBackground(column, QColor(colour.red, colour.green, colour.blue));
    item.setForeground(column, QColor(ink.red, ink.green, ink.blue));
}

void set_up(QTreeWidget& table, const QStringList& titles) {
    table.setHeaderLabels(titles);
    table.setRootIsDecorated(false);
    table.setIndentation(10);
    table.setUniformRowHeights(true);
    table.setAllColumnsShowFocus(true);
    table.setMinimumWidth(220);
    table.header()->setStretchLastSection(false);
    table.header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    for (int column = 1; column < titles.size(); ++column)
        table.headerItem()->setTextAlignment(column, Qt::AlignRight);
}

void align_figures(QTreeWidgetItem& item) {
    for (int column = 1; column < item.columnCount(); ++column)
        item.setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
}

}  // namespace

ErrorTable::ErrorTable(QWidget* parent) : QTreeWidget(parent) {
    setObjectName("compare-errors");
    setAccessibleName(tr("Differences by kind, and by stage or rank"));
    setSelectionMode(QAbstractItemView::NoSelection);
    set_up(*this, {tr("actions"), tr("count"), tr("A"), tr("B"), tr("error"), tr("bias")});
}

void ErrorTable::show_errors(const Pairing& pairing) {
    clear();
    const bool of_run = pairing.alike == Common::Program;
    setHeaderLabels(
        of_run ? QStringList{tr("actions"), tr("count"), tr("A"), tr("B"), tr("error"), tr("bias")}
               : QStringList{tr("actions"), tr("count"), tr("A"), tr("B"), tr("change"), {}});
    setColumnHidden(5, !of_run);
    headerItem()->setToolTip(4, of_run ? tr("Sum of the absolute differences, of B")
                                       : tr("A less B, of B: above 0, A is longer"));
    headerItem()->setToolTip(5, tr("Difference of the sums, of B: above 0, A is longer"));
    if (of_run) {
        add_errors(tr("by kind"), pairing.kinds);
        add_errors(tr("by stage"), pairing.stages);
    } else {
        add_sums(tr("by kind"), pairing.kind_sums);
        add_sums(tr("passes by rank"), pairing.rank_sums);
    }
    expandAll();
}

QTreeWidgetItem* ErrorTable::add_group(const QString& title) {
    auto* group = new QTreeWidgetItem(this, {title});
    QFont bold = font();
    bold.setBold(true);
    group->setFont(0, bold);
    return group;
}

void ErrorTable::add_errors(const QString& title, const std::vector<ErrorRow>& rows) {
    if (rows.empty()) return;
    QTreeWidgetItem* group = add_group(title);
    for (const ErrorRow& row : rows) {
        auto* item = new QTreeWidgetItem(
            group, {QString::fromStdString(row.name), QString::number(row.count),
                    time_of(row.sum.simulated), time_of(row.sum.executed),
                    percent_of(row.mean_error(), false), percent_of(row.bias(), true)});
        align_figures(*item);
        paint_error(*item, 5, row.bias());
    }
}

void ErrorTable::add_sums(const QString& title, const std::vector<SumRow>& rows) {
    if (rows.empty()) return;
    QTreeWidgetItem* group = add_group(title);
    for (const SumRow& row : rows) {
        const bool equal = row.count.simulated == row.count.executed;
        const QString count =
            equal ? QString::number(row.count.simulated)
                  : QString("%1 | %2").arg(row.count.simulated).arg(row.count.executed);
        auto* item = new QTreeWidgetItem(
            group, {QString::fromStdString(row.name), count, time_of(row.sum.simulated),
                    time_of(row.sum.executed), percent_of(row.change(), true)});
        align_figures(*item);
        paint_error(*item, 4, row.change());
    }
}

FiguresTable::FiguresTable(QWidget* parent) : QTreeWidget(parent) {
    setObjectName("compare-figures");
    setAccessibleName(tr("Figures of both"));
    setSelectionMode(QAbstractItemView::NoSelection);
    set_up(*this, {tr("figure"), tr("A"), tr("B")});
}

void FiguresTable::show_rows(const std::vector<ComparedRow>& rows) {
    clear();
    QFont bold = font();
    bold.setBold(true);
    for (const ComparedRow& row : rows) {
        auto* item = new QTreeWidgetItem(
            this, {QString::fromStdString(row.name), QString::fromStdString(row.a),
                   QString::fromStdString(row.b)});
        align_figures(*item);
        if (row.headline) item->setFont(0, bold);
        for (const int column : {1, 2}) {
            item->setToolTip(column, item->text(column));
            if (row.differs()) item->setFont(column, bold);
        }
    }
    for (const int column : {1, 2}) {
        header()->setSectionResizeMode(column, QHeaderView::Interactive);
        header()->resizeSection(column, 96);
    }
}

WorstTable::WorstTable(QWidget* parent) : QTreeWidget(parent) {
    setObjectName("compare-worst");
    setAccessibleName(tr("Actions that differ most"));
    set_up(*this, {tr("worst"), tr("rank"), tr("A"), tr("B"), tr("apart"), tr("error")});
    const auto choose = [this](QTreeWidgetItem* item) {
        Q_EMIT chosen(item->data(0, kSpan).toUInt());
    };
    connect(this, &QTreeWidget::itemClicked, this, choose);
    connect(this, &QTreeWidget::itemActivated, this, choose);
}

void WorstTable::show_worst(const Pairing& pairing, const TimelineDocument& a) {
    clear();
    const bool of_run = pairing.alike == Common::Program;
    headerItem()->setText(0, of_run ? tr("worst") : tr("differ most"));
    headerItem()->setText(5, of_run ? tr("error") : tr("change"));
    setVisible(pairing.alike != Common::Nothing);
    for (const Pair& pair : pairing.worst) {
        const Span& span = a.span(pair.a);
        const auto [less, more] = std::minmax(pair.length.simulated, pair.length.executed);
        const auto error = relative_error(pair.length);
        auto* item = new QTreeWidgetItem(
            this, {QString::fromStdString(to_text(span.action)), QString::number(span.rank.index),
                   time_of(pair.length.simulated), time_of(pair.length.executed),
                   time_of(more - less), percent_of(error, true)});
        item->setData(0, kSpan, pair.a);
        item->setToolTip(0, QString::fromStdString(describe(span.action)));
        align_figures(*item);
        paint_error(*item, 5, error);
    }
}

}  // namespace debubble::gui
