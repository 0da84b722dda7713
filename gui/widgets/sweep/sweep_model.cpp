#include "gui/widgets/sweep/sweep_model.h"

#include <QColor>
#include <QPalette>

namespace debubble::gui {

void SweepModel::refresh() {
    beginResetModel();
    order_ = column_                    ? table_.order(*column_, descending_, filter_)
             : table_.columns().empty() ? std::vector<std::size_t>{}
                                        : table_.best_first(filter_);
    endResetModel();
}

int SweepModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : int(order_.size());
}

int SweepModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : int(table_.columns().size());
}

QVariant SweepModel::data(const QModelIndex& index, int role) const {
    const std::size_t row = order_[std::size_t(index.row())];
    const auto column = std::size_t(index.column());
    switch (role) {
        case Qt::DisplayRole:
        case Qt::ToolTipRole: return QString::fromStdString(table_.text(row, column));
        case Qt::TextAlignmentRole:
            return int((table_.columns()[column].numeric ? Qt::AlignRight : Qt::AlignLeft) |
                       Qt::AlignVCenter);
        case Qt::ForegroundRole:
            return stale_ ? QVariant(QPalette().color(QPalette::Disabled, QPalette::Text))
                          : QVariant();
        default: return {};
    }
}

void SweepModel::set_stale(bool stale) {
    if (stale_ == stale) return;
    beginResetModel();
    stale_ = stale;
    endResetModel();
}

QVariant SweepModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal)
        return QAbstractTableModel::headerData(section, orientation, role);
    const SweepColumn& column = table_.columns()[std::size_t(section)];
    if (role == Qt::ToolTipRole) return QString::fromStdString(column.key);
    if (role != Qt::DisplayRole) return {};
    const QString title = QString::fromStdString(column.title);
    return column.swept ? title.section('.', -1) : title;
}

void SweepModel::sort(int column, Qt::SortOrder order) {
    column_ = column < 0 ? std::nullopt : std::optional(std::size_t(column));
    descending_ = order == Qt::DescendingOrder;
    refresh();
}

}  // namespace debubble::gui
