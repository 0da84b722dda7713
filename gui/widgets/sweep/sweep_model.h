#pragma once

#include <optional>
#include <string>
#include <vector>

#include <QAbstractTableModel>

#include "gui/viewmodel/sweep/sweep_table.h"

namespace debubble::gui {

/// A SweepTable for Qt's table view, sorted and filtered.
class SweepModel : public QAbstractTableModel {
public:
    SweepModel(const SweepTable& table, QObject* parent)
        : QAbstractTableModel(parent), table_(table) {}

    void set_filter(const std::string& filter) {
        filter_ = filter;
        refresh();
    }
    /// Notifies the view of changed rows in the table.
    void refresh();
    const std::vector<std::size_t>& order() const { return order_; }
    /// Whether the rows are of another scenario than the open one, and grey.
    void set_stale(bool stale);

    int rowCount(const QModelIndex& parent) const override;
    int columnCount(const QModelIndex& parent) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

private:
    const SweepTable& table_;
    std::vector<std::size_t> order_;
    std::string filter_;
    std::optional<std::size_t> column_;  ///< nothing: the best first
    bool descending_ = false;
    bool stale_ = false;
};

}  // namespace debubble::gui
